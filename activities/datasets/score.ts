import type { PartSpec, ScorerSpec } from '../../src/contracts/scoring/scorer.js';
import type { ScorerAnswer } from '../../src/clients/scorers/client.js';
import { compare, isComparing, partsFor } from '../../src/core/verify/compare.js';
import { parseRubric } from '../../src/core/verify/rubric.js';
import { maxFeedback } from '../../src/core/verify/text.js';
import { combine, negated, partNames, type ScoredPart } from '../../src/core/verify/weighted.js';
import { cutWithin, storableText } from '../../src/util/text.js';
import type { ModelRollout } from '../models/ask-model.js';
import { askJudge, type Judgement } from '../models/judge.js';

/** A row and its expected value; undefined or null: none. */
export interface ScoredRow {
  row: Record<string, unknown>;
  expected: unknown;
  /** The row without its expected value, which a judge gets beside it. */
  judged: Record<string, unknown>;
}

/**
 * Scores a model's output for a row; the code of users has the time of a rollout. Rejects with the
 * signal's reason; `expectedProblem` must have reported no problem.
 */
export async function scoreOutput(
  rollout: ModelRollout,
  scorer: ScorerSpec,
  row: ScoredRow,
  output: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Judgement> {
  if (scorer.mode !== 'weighted') return scorePart(rollout, scorer, row, output, { key: '@judge', timeoutMs }, signal);
  const parts = partsFor(scorer, row.expected);
  const names = partNames(parts.map((part) => part.scorer.mode));
  const scored: ScoredPart[] = [];
  let judges = 0;
  for (const [at, { weight, scorer: part, expected, negate }] of parts.entries()) {
    if (part.mode === 'rubric') judges += 1;
    const key = judges > 1 ? `@judge${judges}` : '@judge';
    const result = await scorePart(rollout, part, { ...row, expected }, output, { key, timeoutMs }, signal);
    if (!result.ok) return result;
    const { verification } = result;
    scored.push({ name: names[at]!, weight, verification: negate ? negated(verification) : verification });
  }
  return { ok: true, verification: combine(scored) };
}

/** `key`: the name of a judge's recorded call; `timeoutMs`: of the code of users. */
async function scorePart(
  rollout: ModelRollout,
  scorer: PartSpec,
  { row, expected, judged }: ScoredRow,
  output: string,
  { key, timeoutMs }: { key: string; timeoutMs: number },
  signal: AbortSignal,
): Promise<Judgement> {
  if (isComparing(scorer)) return { ok: true, verification: compare(scorer, expected, output) };
  const { scorers } = rollout.deps;
  const wanted = expected ?? null;
  switch (scorer.mode) {
    case 'rubric': {
      const gold = wanted === null ? {} : { gold: { value: wanted } };
      const { judge, rubric } = scorer;
      return askJudge(rollout, { judge, key, criteria: parseRubric(rubric), input: judged, output, ...gold }, signal);
    }
    case 'javascript': {
      const scoring = { orgId: rollout.job.orgId, code: scorer.code };
      return judgementOf(await scorers.javascript(scoring, { output, row, expected: wanted }, signal, timeoutMs));
    }
    case 'http': {
      const { onPushback } = rollout;
      const scoring = {
        url: scorer.url,
        tryTimeoutMs: scorer.timeoutS === null ? timeoutMs : scorer.timeoutS * 1_000,
        onPushback,
      };
      return judgementOf(await scorers.http(scoring, { output, row, expected: wanted }, signal));
    }
  }
}

function judgementOf(answer: ScorerAnswer): Judgement {
  if (!answer.ok) return answer;
  const { reward, feedback, details } = answer;
  const text = storableText(cutWithin(feedback ?? '', maxFeedback));
  const verification = { reward, feedback: text, ...(details && { details }) };
  return { ok: true, verification };
}
