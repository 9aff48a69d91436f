import type { ScorerAnswer } from '../../src/scorers/client/client.js';
import { maxFeedback } from '../../src/core/verify/text.js';
import { scorePart, type ScorerSpec } from '../../src/scorers/index.js';
import type { ScoringCall } from '../../src/scorers/scorer.js';
import { combine, isWeighted, negated, partNames, partsFor, type ScoredPart } from '../../src/scorers/weighted.js';
import { cutWithin, storableText } from '../../src/util/text.js';
import type { ActivityDeps } from '../deps.js';
import { askJudge, type Ask, type Judgement } from '../models/judge.js';

/** A row and its expected value; undefined or null: none. */
export interface ScoredRow {
  row: Record<string, unknown>;
  expected: unknown;
  /** The row without its expected value, which a judge gets beside it. */
  judged: Record<string, unknown>;
}

/** Who scores, and for whom. */
export interface ScoringContext {
  orgId: string;
  /** Scores by the code and the URLs of users. */
  scorers: ActivityDeps['scorers'];
  /** Asks judge models. */
  ask: Ask;
  onPushback?: (reason: string) => void;
}

/** What a model answered for a row; `timeoutMs`: the time of the code of users. */
export interface ScoredOutput extends ScoredRow {
  output: string;
  timeoutMs: number;
}

/**
 * Scores a model's output for a row. Rejects with the signal's reason; `expectedProblem` must have
 * reported no problem.
 */
export async function scoreOutput(
  scoring: ScoringContext,
  spec: ScorerSpec,
  answered: ScoredOutput,
  signal: AbortSignal,
): Promise<Judgement> {
  const parts = partsFor(spec, answered.expected);
  const names = partNames(parts.map(({ scorer }) => scorer.type));
  const scored: ScoredPart[] = [];
  let judges = 0;
  for (const [at, { weight, scorer, expected, negate }] of parts.entries()) {
    const found = scorePart(scorer, expected, answered.output);
    if ('call' in found && found.call.runner === 'judge') judges += 1;
    const key = judges > 1 ? `@judge${judges}` : '@judge';
    const judgement: Judgement =
      'call' in found
        ? await runCall(scoring, found.call, { ...answered, expected, key }, signal)
        : { ok: true, verification: found.verification };
    if (!judgement.ok || !isWeighted(spec)) return judgement;
    const { verification } = judgement;
    scored.push({ name: names[at]!, weight, verification: negate ? negated(verification) : verification });
  }
  return { ok: true, verification: combine(scored) };
}

function runCall(
  { orgId, scorers, ask, onPushback }: ScoringContext,
  call: ScoringCall,
  /** `key`: the name of a judge's recorded call. */
  { row, expected: given, judged, output, key, timeoutMs }: ScoredOutput & { key: string },
  signal: AbortSignal,
): Promise<Judgement> {
  const expected = given ?? null;
  switch (call.runner) {
    case 'judge': {
      const { judge, criteria } = call;
      const gold = expected === null ? {} : { gold: { value: expected } };
      return askJudge(ask, { judge, key, criteria, input: judged, output, ...gold }, signal);
    }
    case 'sandbox': {
      return scorers
        .runFunction({ orgId, code: call.code }, { output, row, expected }, signal, timeoutMs)
        .then(judgementOf);
    }
    case 'url': {
      const tryTimeoutMs = call.timeoutS === null ? timeoutMs : call.timeoutS * 1_000;
      const asked = { url: call.url, tryTimeoutMs, ...(onPushback && { onPushback }) };
      return scorers.askUrl(asked, { output, row, expected }, signal).then(judgementOf);
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
