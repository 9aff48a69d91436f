/** What a scorer gets: an output, the row, and its expected value (null: none). */
export interface ScorerInput {
  output: string;
  row: Record<string, unknown>;
  expected: unknown;
}
