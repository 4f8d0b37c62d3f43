//! The order of constructors: what keeps it, and what of it changed.

use super::precedence::Precedence;
use loader::Graph;
use model::ModuleId;

/// What keeps the order of initialization as it is.
///
/// The loader walks the modules from the last to the first, and from each to what it needs; a
/// module that has been reached is not walked again. So nothing changes while every module from
/// which a walk begins stays behind all that this walk reached, and the walks in their order.
pub fn keep(graph: &Graph, precedence: &mut Precedence) {
    let mut reached = vec![false; graph.modules.len()];
    // The program is initialized last in any case.
    reached[ModuleId::PROGRAM.index()] = true;
    let mut last = None;
    for (start, _) in graph.numbered().rev() {
        if std::mem::replace(&mut reached[start.index()], true) {
            continue;
        }
        if let Some(last) = last {
            precedence.keep(start, last);
        }
        last = Some(start);
        let mut stack = vec![start];
        while let Some(module) = stack.pop() {
            for &need in &graph[module].dependencies {
                if !std::mem::replace(&mut reached[need.index()], true) {
                    precedence.keep(need, start);
                    stack.push(need);
                }
            }
        }
    }
}

/// Modules with constructors or destructors, in the order in which they are called;
/// the program, always the last, is not among them.
pub fn of(graph: &Graph) -> Vec<ModuleId> {
    let order = loader::order::of_initialization(graph);
    let has = |&id: &ModuleId| id != ModuleId::PROGRAM && graph[id].image.initializes;
    order.into_iter().filter(has).collect()
}

/// Elements of `after` that are not where they were: all but a longest row of elements that both
/// have in the same order.
pub fn moved<T: PartialEq + Clone>(before: &[T], after: &[T]) -> Vec<T> {
    let place = |element: &T| before.iter().position(|other| other == element);
    let places: Vec<Option<usize>> = after.iter().map(place).collect();
    // Length of the longest ascending row that ends at each, and the element before it.
    let mut rows: Vec<(usize, Option<usize>)> = Vec::with_capacity(places.len());
    for (at, place) in places.iter().enumerate() {
        let earlier = (0..at).filter(|&other| places[other].is_some() && places[other] < *place);
        let best = earlier.max_by_key(|&other| rows[other].0);
        rows.push((best.map_or(0, |best| rows[best].0) + 1, best));
    }
    let mut stays = vec![false; after.len()];
    let known = (0..after.len()).filter(|&at| places[at].is_some());
    let mut next = known.max_by_key(|&at| rows[at].0);
    while let Some(at) = next {
        stays[at] = true;
        next = rows[at].1;
    }
    after
        .iter()
        .zip(stays)
        .filter(|(_, stays)| !stays)
        .map(|(element, _)| element.clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::moved;

    #[test]
    fn what_moved_is_told_by_as_few_as_possible() {
        assert_eq!(moved(&[1, 2, 3, 4], &[1, 2, 3, 4]), [0; 0]);
        assert_eq!(moved(&[1, 2, 3, 4], &[4, 1, 2, 3]), [4]);
        assert_eq!(moved(&[1, 2, 3, 4], &[2, 1, 3, 4]).len(), 1);
        assert_eq!(moved(&[1, 2, 3], &[3, 2, 1]).len(), 2);
        assert_eq!(moved(&[1, 2], &[1, 9, 2]), [9]);
        assert_eq!(moved(&[0; 0], &[]), [0; 0]);
    }
}
