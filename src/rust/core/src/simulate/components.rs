//! Which genes regulate each other in a circle, and an order in which regulators come first.

/// Strongly connected components of a directed graph, each after all that have an arrow into it
/// (Tarjan's algorithm). `targets[u]` are the heads of the arrows from `u`.
pub fn components(targets: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut search = Search::new(targets);
    for root in 0..targets.len() {
        if search.number[root] == UNSEEN {
            search.explore(root);
        }
    }
    search.found.reverse();
    search.found
}

const UNSEEN: usize = usize::MAX;

struct Search<'a> {
    targets: &'a [Vec<usize>],
    /// When a node was first seen.
    number: Vec<usize>,
    /// The earliest node on the stack that is known to be reachable from it.
    low: Vec<usize>,
    stack: Vec<usize>,
    on_stack: Vec<bool>,
    seen: usize,
    found: Vec<Vec<usize>>,
}

impl<'a> Search<'a> {
    fn new(targets: &'a [Vec<usize>]) -> Self {
        let n = targets.len();
        Self {
            targets,
            number: vec![UNSEEN; n],
            low: vec![UNSEEN; n],
            stack: Vec::new(),
            on_stack: vec![false; n],
            seen: 0,
            found: Vec::new(),
        }
    }

    /// Depth first from `root`, with a stack of our own: a chain of genes may be long.
    fn explore(&mut self, root: usize) {
        let mut calls = vec![(root, 0)];
        self.enter(root);
        while let Some((node, next)) = calls.pop() {
            match self.targets[node].get(next) {
                Some(&target) => {
                    calls.push((node, next + 1));
                    if self.number[target] == UNSEEN {
                        self.enter(target);
                        calls.push((target, 0));
                    } else if self.on_stack[target] {
                        self.low[node] = self.low[node].min(self.number[target]);
                    }
                }
                None => {
                    if let Some(&(parent, _)) = calls.last() {
                        self.low[parent] = self.low[parent].min(self.low[node]);
                    }
                    self.leave(node);
                }
            }
        }
    }

    fn enter(&mut self, node: usize) {
        self.number[node] = self.seen;
        self.low[node] = self.seen;
        self.seen += 1;
        self.stack.push(node);
        self.on_stack[node] = true;
    }

    /// Everything above `node` on the stack is its component, if it is the first of one.
    fn leave(&mut self, node: usize) {
        if self.low[node] != self.number[node] {
            return;
        }
        let start = self.stack.iter().rposition(|other| *other == node).unwrap_or(0);
        let component = self.stack.split_off(start);
        component.iter().for_each(|member| self.on_stack[*member] = false);
        self.found.push(component);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_are_kept_together_and_regulators_come_first() {
        // 3 -> 4 -> 5 -> 4, 5 -> 0, 0 -> 1 -> 2 -> 0, and 6 by itself with an arrow to itself.
        let targets = vec![vec![1], vec![2], vec![0], vec![4], vec![5], vec![4, 0], vec![6]];
        let mut found = components(&targets);
        found.iter_mut().for_each(|component| component.sort_unstable());
        let place = |component: &[usize]| found.iter().position(|f| f == component).unwrap();
        assert_eq!(found.len(), 4);
        assert!(place(&[3]) < place(&[4, 5]));
        assert!(place(&[4, 5]) < place(&[0, 1, 2]));
        place(&[6]);
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much to interpret")]
    fn a_long_chain_is_no_problem() {
        let n = 200_000;
        let targets: Vec<Vec<usize>> =
            (0..n).map(|u| if u + 1 < n { vec![u + 1] } else { vec![] }).collect();
        let found = components(&targets);
        assert_eq!(found, (0..n).map(|u| vec![u]).collect::<Vec<_>>());
    }
}
