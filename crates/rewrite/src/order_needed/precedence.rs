//! Which modules have to stay before which, for whatever reason.

use model::ModuleId;

/// A relation "comes before" among modules. Every pair agrees with the order of their numbers, so
/// that there is always an order that keeps all pairs.
#[derive(Clone, Debug)]
pub struct Precedence {
    /// By module: what comes before it, itself not included, as bits.
    before: Vec<Vec<u64>>,
}

impl Precedence {
    /// No pair among `count` modules.
    pub fn new(count: usize) -> Precedence {
        Precedence { before: vec![vec![0; count.div_ceil(64)]; count] }
    }

    /// All modules.
    pub fn modules(&self) -> impl Iterator<Item = ModuleId> + use<> {
        (0..self.before.len()).map(ModuleId::at)
    }

    /// `first` comes before `second`, where it does so now; other pairs are not taken.
    pub fn keep(&mut self, first: ModuleId, second: ModuleId) {
        if first < second
            && let Some(words) = self.before.get_mut(second.index())
            && let Some(word) = words.get_mut(first.index() / 64)
        {
            *word |= 1 << (first.index() % 64);
        }
    }

    /// Adds what follows from two pairs: what is before something is also before all behind that.
    pub fn close(&mut self) {
        for second in self.modules() {
            let mut all = self.before[second.index()].clone();
            for first in self.before(second) {
                for (word, more) in all.iter_mut().zip(&self.before[first.index()]) {
                    *word |= more;
                }
            }
            self.before[second.index()] = all;
        }
    }

    /// Whether `first` has to come before `second`.
    pub fn holds(&self, first: ModuleId, second: ModuleId) -> bool {
        let word = self.before[second.index()][first.index() / 64];
        word >> (first.index() % 64) & 1 == 1
    }

    /// Modules that have to come before this one, ascending.
    pub fn before(&self, second: ModuleId) -> impl Iterator<Item = ModuleId> + '_ {
        self.modules().take(second.index()).filter(move |&first| self.holds(first, second))
    }

    /// How many pairs there are.
    pub fn pairs(&self) -> usize {
        self.before.iter().flatten().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether an order keeps every pair of those that are in it.
    pub fn kept_by(&self, order: &[ModuleId]) -> bool {
        let mut later = order.iter().enumerate();
        !later.any(|(at, &module)| order[at + 1..].iter().any(|&next| self.holds(next, module)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_follow_from_pairs() {
        let mut precedence = Precedence::new(130);
        for (first, second) in [(1, 70), (70, 129), (5, 3), (200, 1), (1, 200)] {
            precedence.keep(ModuleId(first), ModuleId(second));
        }
        assert_eq!(precedence.pairs(), 2);
        precedence.close();
        let holds = |first, second| precedence.holds(ModuleId(first), ModuleId(second));
        assert!(holds(1, 129) && !holds(129, 1) && !holds(3, 5));
        let before = precedence.before(ModuleId(129));
        assert_eq!(before.collect::<Vec<_>>(), [ModuleId(1), ModuleId(70)]);
        let kept_by = |order: &[u32]| {
            let order: Vec<ModuleId> = order.iter().copied().map(ModuleId).collect();
            precedence.kept_by(&order)
        };
        assert!(kept_by(&[0, 1, 2, 70, 129]));
        assert!(!kept_by(&[0, 129, 70]) && !kept_by(&[129, 1]));
    }
}
