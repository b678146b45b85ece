//! The sources keep to their order: a stage uses only stages that `lib.rs` declares before it, a file
//! only files that its folder's `mod.rs` declares before it, and CONTRIBUTING.md has the same order.

use std::fs;
use std::path::{Path, PathBuf};

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// A source without comments and without its own tests, which may use anything.
fn code(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap();
    let text = text.split("#[cfg(test)]").next().unwrap();
    let code = text.lines().map(|line| line.split("//").next().unwrap());
    code.collect::<Vec<_>>().join("\n")
}

/// The modules that a source declares, in order.
fn declared(file: &Path) -> Vec<String> {
    let name = |line: &str| {
        let line = line.trim().trim_start_matches("pub ");
        line.strip_prefix("mod ")?.strip_suffix(';').map(str::to_string)
    };
    code(file).lines().filter_map(name).collect()
}

/// What follows each mention of a path in a source, up to the next separator: `b` of `a::b::c`, and
/// all of `a::{b::c, d}`.
fn following(text: &str, path: &str) -> Vec<String> {
    let word = |text: &str| -> String {
        text.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let mut found = Vec::new();
    for (at, _) in text.match_indices(path) {
        let rest = &text[at + path.len()..];
        match rest.strip_prefix('{') {
            Some(list) => {
                let end = list.find("};").unwrap_or(list.len());
                found.extend(list[..end].split([',', '{', '}']).map(word));
            }
            None => found.push(word(rest)),
        }
    }
    found
}

/// All files of a module, its folder or its one file.
fn files(folder: &Path, module: &str) -> Vec<PathBuf> {
    let single = folder.join(format!("{module}.rs"));
    if single.is_file() {
        return vec![single];
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(folder.join(module)).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            files.extend(self::files(path.parent().unwrap(), &name));
        } else {
            files.push(path);
        }
    }
    files
}

/// Check the modules that `list` declares; `prefixes` are the ways their files name each other.
fn assert_in_order(list: &Path, folder: &Path, prefixes: &[&str]) -> usize {
    let modules = declared(list);
    let mut uses = 0;
    for (place, module) in modules.iter().enumerate() {
        for file in files(folder, module) {
            let text = code(&file);
            for used in prefixes.iter().flat_map(|prefix| following(&text, prefix)) {
                let Some(other) = modules.iter().position(|module| *module == used) else {
                    continue;
                };
                assert!(other <= place, "{} uses `{used}`, declared below", file.display());
                uses += usize::from(other < place);
            }
        }
    }
    uses
}

#[test]
#[cfg_attr(miri, ignore = "reads files")]
fn a_stage_uses_only_those_before_it() {
    let sources = sources();
    let uses = assert_in_order(&sources.join("lib.rs"), &sources, &["crate::"]);
    // Otherwise the pattern finds nothing.
    assert!(uses > 100, "{uses}");
}

#[test]
#[cfg_attr(miri, ignore = "reads files")]
fn a_file_uses_only_those_declared_before_it_in_its_folder() {
    let sources = sources();
    let mut uses = 0;
    for stage in declared(&sources.join("lib.rs")) {
        let folder = sources.join(&stage);
        if folder.is_dir() {
            let own = format!("crate::{stage}::");
            uses += assert_in_order(&folder.join("mod.rs"), &folder, &[&own, "super::"]);
        }
    }
    assert!(uses > 50, "{uses}");
}

#[test]
#[cfg_attr(miri, ignore = "reads files")]
fn the_guide_has_the_same_order() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../CONTRIBUTING.md");
    let guide = fs::read_to_string(guide).unwrap();
    let section = guide.split("## The core, top down").nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let stages = section.lines().filter_map(|line| line.strip_prefix("| `"));
    let stages: Vec<&str> = stages.map(|row| row.split('`').next().unwrap()).collect();
    let stages: Vec<&str> = stages.iter().map(|stage| stage.trim_end_matches('/')).collect();
    assert_eq!(stages, declared(&sources().join("lib.rs")));
}
