/** A judge's answer: refused unless it is whole and gives each criterion one score, since a wrong reward misleads a search. */
import { criterionKey } from './rubric.js';
import { cut, isObject, maxFeedback, readJson, show, storable } from './text.js';
import { weightedMean, type Criterion, type CriterionScore, type Verification } from './verification.js';

/** Characters that are kept of a criterion's reason. */
const maxReason = 1_000;

export interface Judged {
  criteria: readonly Criterion[];
  /** As the model reported it; null where it did not. */
  finishReason: string | null;
}

/** Why there is no judgement: the judge is asked again, then the verification has failed; it is no reward of 0. */
export type ParsedJudgement = { ok: true; verification: Verification } | { ok: false; reason: string };

/**
 * The verification that a judge's answer gives: `{"criteria": [{"name", "reason", "score"}]}`, alone or in one fenced block
 * with or without words around it. The reward is the weighted mean of the scores.
 */
export function parseJudgement(answer: string, { criteria, finishReason }: Judged): ParsedJudgement {
  if (finishReason === 'length') {
    return refuse('the answer was cut off (finish_reason "length"): allow the judge more tokens');
  }
  const read = readJson(answer);
  if (!read) return refuse(`the answer is no JSON, alone or in one fenced block: ${show(answer, 200)}`);
  const given = isObject(read.value) && Object.hasOwn(read.value, 'criteria') ? read.value['criteria'] : undefined;
  if (!Array.isArray(given)) return refuse('the answer has no list "criteria"');

  const known = new Map(criteria.map((criterion) => [criterionKey(criterion.name), criterion]));
  const scores = new Map<Criterion, CriterionScore>();
  for (const one of given as unknown[]) {
    const name = isObject(one) ? one['name'] : undefined;
    if (typeof name !== 'string' || !isObject(one)) return refuse('a criterion of the answer has no name');
    const criterion = known.get(criterionKey(name));
    const called = JSON.stringify(show(name, 100));
    if (!criterion) return refuse(`the answer judges by ${called}, which is none of the criteria`);
    if (scores.has(criterion)) return refuse(`the answer judges by ${called} twice`);
    const { score, reason } = one;
    if (typeof score !== 'number' || !(score >= 0 && score <= 1)) {
      return refuse(`the score of ${called} is ${show(score, 100)}; it must be a number from 0 to 1`);
    }
    if (typeof reason !== 'string' || reason.trim() === '') return refuse(`${called} has a score without a reason`);
    scores.set(criterion, {
      name: criterion.name,
      weight: criterion.weight,
      score,
      reason: storable(cut(reason.trim(), maxReason)),
    });
  }
  const missing = criteria.filter((criterion) => !scores.has(criterion));
  if (missing.length > 0) {
    return refuse(`the answer lacks ${missing.map(({ name }) => JSON.stringify(show(name, 100))).join(', ')}`);
  }
  const inOrder = criteria.map((criterion) => scores.get(criterion)!);
  return { ok: true, verification: { reward: weightedMean(inOrder), feedback: describe(inOrder), criteria: inOrder } };
}

/** The reasons, the worst first, each cut so that every criterion has its share. */
function describe(scores: readonly CriterionScore[]): string {
  const share = Math.floor(maxFeedback / scores.length) - 1;
  const worstFirst = [...scores].sort((left, right) => left.score - right.score);
  return worstFirst
    .map(({ name, score, reason }) => cut(`- ${show(name, 100)}: ${score} of 1. ${reason}`, share))
    .join('\n');
}

function refuse(reason: string): ParsedJudgement {
  return { ok: false, reason };
}
