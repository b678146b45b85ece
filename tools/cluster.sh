#!/bin/sh
# A cluster on this machine: a Slurm of one node, and two hosts in network
# namespaces. tools/cluster.R runs the same work on both and alone, kills a
# part of it, and compares to the last bit. Needs root. What it starts ends
# with it.

cd "$(dirname "$0")/.." || exit 1
sh tools/setup.sh cluster || exit 1
sh tools/install.sh build/library || exit 1
top=$PWD
folder=$PWD/build/cluster
rm -rf "$folder"
mkdir -p "$folder/state" "$folder/spool" "$folder/work" "$folder/temporary"
R_LIBS="$PWD/build/library${R_LIBS:+:$R_LIBS}"
export R_LIBS
started=

fail() {
    echo "cluster: $*" >&2
    exit 1
}

# On the way out, whatever happened.
finish() {
    for process in $started; do
        kill "$process" 2> /dev/null
    done
    for host in main a b; do
        # Workers that their main process has left behind.
        ip netns pids "kliepnet-$host" 2> /dev/null | xargs -r kill 2> /dev/null
        ip netns delete "kliepnet-$host" 2> /dev/null
    done
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

[ "$(id -u)" = 0 ] || fail "Slurm's daemons and network namespaces need root"

# ---- Slurm -----------------------------------------------------------------

# Without munge and without systemd: both daemons are this user's.
node=$(hostname -s)
export SLURM_CONF="$folder/slurm.conf"
cat > "$SLURM_CONF" << CONF
ClusterName=kliepnet
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=26817
SlurmdPort=26818
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
KillWait=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
NodeName=$node NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
slurmctld -D > "$folder/slurmctld.out" 2>&1 &
started="$started $!"
slurmd -D -N "$node" > "$folder/slurmd.out" 2>&1 &
started="$started $!"
waited=0
until sinfo --noheader --format=%t 2> /dev/null | grep -q idle; do
    [ "$waited" -lt 60 ] || {
        tail -n 20 "$folder"/slurm*.log "$folder"/slurm*.out >&2
        fail "Slurm does not start"
    }
    sleep 1
    waited=$((waited + 1))
done
echo "cluster: $(sinfo --version | sed 's/-wlm//') is up, with one node of 2 processors"

# ---- two hosts -------------------------------------------------------------

# The main process has a namespace of its own too: nothing of this machine's
# network changes. Addresses are known there alone.
for host in main a b; do
    ip netns delete "kliepnet-$host" 2> /dev/null
    ip netns add "kliepnet-$host" || fail "no network namespaces here"
    ip -n "kliepnet-$host" link set lo up
done
ip -n kliepnet-main link add switch type bridge &&
    ip -n kliepnet-main address add 10.77.0.1/24 dev switch &&
    ip -n kliepnet-main link set switch up || fail "no bridge here"
number=2
for host in a b; do
    ip -n kliepnet-main link add "to-$host" type veth \
        peer name eth0 netns "kliepnet-$host"
    ip -n kliepnet-main link set "to-$host" master switch up
    ip -n "kliepnet-$host" address add "10.77.0.$number/24" dev eth0
    ip -n "kliepnet-$host" link set eth0 up
    number=$((number + 1))
done

# What ssh is elsewhere: rsh <host> <command>. A host has files of its own
# where R keeps temporary ones: not in /tmp, where this tree may be.
cat > "$folder/rsh" << 'RSH'
#!/bin/sh
case $1 in
10.77.0.2) host=kliepnet-a ;;
10.77.0.3) host=kliepnet-b ;;
*) exit 1 ;;
esac
shift
exec ip netns exec "$host" unshare --mount sh -c \
    "mount -t tmpfs tmpfs \"\$TMPDIR\"; $*"
RSH
chmod +x "$folder/rsh"

# ---- the work --------------------------------------------------------------

cd "$folder/work" || exit 1
ip netns exec kliepnet-main ip link set lo up
KLIEPNET_CLUSTER=slurm Rscript "$top/tools/cluster.R" "$folder" || exit 1
KLIEPNET_CLUSTER=psock TMPDIR="$folder/temporary" ip netns exec kliepnet-main \
    Rscript "$top/tools/cluster.R" "$folder" || exit 1
echo "cluster: kliep_test() and compare_methods() on Slurm and on two hosts," \
    "each with a part killed and taken up from its checkpoint, are identical" \
    "to the sequential ones"
