/** What came of a child: the mean gain over its parent on `seeds`; null: it has not run yet. */
export interface TriedCandidate {
  candidate: number;
  status: 'proposed' | 'rejected' | 'evaluated';
  gain: number | null;
  seeds: number;
}
