/**
 * How the model is asked: to revise the text, to write it anew, to make it shorter, or to compare
 * many failures with right answers (`contrast`), in `causes` after a list of what they share.
 */
export type Approach = 'revise' | 'restart' | 'compress' | 'contrast' | 'causes';

/** Whether the question shows many failures, and right answers beside them. */
export function showsMany(approach: Approach | undefined): boolean {
  return approach === 'contrast' || approach === 'causes';
}
