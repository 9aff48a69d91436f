import type { ScorerSpec } from '../../src/contracts/scoring/scorer.js';
import { score } from '../../src/core/verify/score.js';
import type { Judgement } from '../models/judge.js';
import type { ModelRollout } from '../models/ask-model.js';

export function scoreOutput(
  _rollout: ModelRollout,
  scorer: ScorerSpec,
  { expected }: { row: Record<string, unknown>; expected: unknown },
  output: string,
  _signal: AbortSignal,
): Promise<Judgement> {
  return Promise.resolve({ ok: true, verification: score(scorer, expected, output) });
}
