//! Which modules have to stay before which, for whatever reason.

/// A relation "comes before" among modules 0..n. Every pair agrees with the order 0, 1, 2 …,
/// so that there is always an order that keeps all pairs.
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

    /// How many modules there are.
    pub fn count(&self) -> usize {
        self.before.len()
    }

    /// `first` comes before `second`, where it does so now; other pairs are not taken.
    pub fn keep(&mut self, first: usize, second: usize) {
        if first < second
            && let Some(words) = self.before.get_mut(second)
            && let Some(word) = words.get_mut(first / 64)
        {
            *word |= 1 << (first % 64);
        }
    }

    /// Adds what follows from two pairs: what is before something is also before all behind that.
    pub fn close(&mut self) {
        for second in 0..self.count() {
            let mut all = self.before[second].clone();
            for first in (0..second).filter(|&first| has(&self.before[second], first)) {
                for (word, more) in all.iter_mut().zip(&self.before[first]) {
                    *word |= more;
                }
            }
            self.before[second] = all;
        }
    }

    /// Whether `first` has to come before `second`.
    pub fn holds(&self, first: usize, second: usize) -> bool {
        self.before.get(second).is_some_and(|words| has(words, first))
    }

    /// Modules that have to come before this one, ascending.
    pub fn before(&self, second: usize) -> impl Iterator<Item = usize> + '_ {
        let words = self.before.get(second).map_or(&[][..], Vec::as_slice);
        (0..second.min(words.len() * 64)).filter(move |&first| has(words, first))
    }

    /// How many pairs there are.
    pub fn pairs(&self) -> usize {
        self.before.iter().flatten().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether an order keeps every pair of those that are in it.
    pub fn kept_by(&self, order: &[usize]) -> bool {
        let mut later = order.iter().enumerate();
        !later.any(|(at, &module)| order[at + 1..].iter().any(|&next| self.holds(next, module)))
    }
}

fn has(words: &[u64], bit: usize) -> bool {
    words.get(bit / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_follow_from_pairs() {
        let mut precedence = Precedence::new(130);
        for (first, second) in [(1, 70), (70, 129), (5, 3), (200, 1), (1, 200)] {
            precedence.keep(first, second);
        }
        assert_eq!(precedence.pairs(), 2);
        precedence.close();
        assert!(precedence.holds(1, 129) && !precedence.holds(129, 1) && !precedence.holds(3, 5));
        assert_eq!(precedence.before(129).collect::<Vec<_>>(), [1, 70]);
        assert!(precedence.kept_by(&[0, 1, 2, 70, 129]));
        assert!(!precedence.kept_by(&[0, 129, 70]) && !precedence.kept_by(&[129, 1]));
    }
}
