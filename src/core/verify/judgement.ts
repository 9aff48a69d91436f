/** Parses a judge's answer, which must score each criterion once. */
import { isCut } from '../answers/ending.js';
import { readTolerantJson } from '../answers/json.js';
import { criterionKey } from './rubric.js';
import { isObject } from '../../util/json.js';
import { maxFeedback, show } from './text.js';
import { weightedMean, type Criterion, type CriterionScore, type Verification } from './verification.js';
import { cutWithin, storableText } from '../../util/text.js';

/** Maximum characters kept of a criterion's reason. */
const maxReason = 1_000;

export interface JudgementContext {
  criteria: readonly Criterion[];
  /** As the model reported it; null if it reported none. */
  finishReason: string | null;
}

/** On failure the judge is asked again; then the verification fails, which is not a reward of 0. */
export type ParsedJudgement = { ok: true; verification: Verification } | { ok: false; reason: string };

/**
 * Parses `{"criteria": [{"name", "reason", "score"}]}`, the answer's last JSON object. The reward
 * is the weighted mean of the scores.
 */
export function parseJudgement(answer: string, { criteria, finishReason }: JudgementContext): ParsedJudgement {
  if (isCut(finishReason)) {
    return refuse('the answer was cut off (finish_reason "length"): allow the judge more tokens');
  }
  const read = readTolerantJson(answer, (value) => isObject(value) || isList(value));
  if (!read) return refuse(`the answer has no JSON object: ${show(answer, 200)}`);
  const given = isList(read.value) ? read.value : criteriaOf(read.value);
  if (!Array.isArray(given)) return refuse('the answer has no list "criteria"');

  const known = new Map(criteria.map((criterion) => [criterionKey(criterion.name), criterion]));
  const scores = new Map<Criterion, CriterionScore>();
  for (const item of given as unknown[]) {
    const name = isObject(item) ? item['name'] : undefined;
    if (typeof name !== 'string' || !isObject(item)) return refuse('a criterion of the answer has no name');
    const criterion = known.get(criterionKey(name));
    const label = JSON.stringify(show(name, 100));
    if (!criterion) return refuse(`the answer judges by ${label}, which is none of the criteria`);
    if (scores.has(criterion)) return refuse(`the answer judges by ${label} twice`);
    const { reason } = item;
    const score = numberOf(item['score']);
    if (typeof score !== 'number' || !(score >= 0 && score <= 1)) {
      return refuse(
        `the score of ${label} is ${show(item['score'], 100)}; it must be a number from 0 to 1, such as 0.7`,
      );
    }
    if (typeof reason !== 'string' || reason.trim() === '') return refuse(`${label} has a score without a reason`);
    scores.set(criterion, {
      name: criterion.name,
      weight: criterion.weight,
      score,
      reason: storableText(cutWithin(reason.trim(), maxReason)),
    });
  }
  const missing = criteria.filter((criterion) => !scores.has(criterion));
  if (missing.length > 0) {
    return refuse(`the answer lacks ${missing.map(({ name }) => JSON.stringify(show(name, 100))).join(', ')}`);
  }
  const inOrder = criteria.map((criterion) => scores.get(criterion)!);
  return { ok: true, verification: { reward: weightedMean(inOrder), feedback: describe(inOrder), criteria: inOrder } };
}

function isList(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isObject);
}

/** The list of an object, or of the only object in it. */
function criteriaOf(value: unknown): unknown {
  if (!isObject(value)) return undefined;
  if (Object.hasOwn(value, 'criteria')) return value['criteria'];
  const [only, ...others] = Object.values(value);
  return isObject(only) && others.length === 0 && Object.hasOwn(only, 'criteria') ? only['criteria'] : undefined;
}

/** The reasons, lowest score first, each cut to an equal share of the feedback. */
function describe(scores: readonly CriterionScore[]): string {
  const share = Math.floor(maxFeedback / scores.length) - 1;
  const worstFirst = [...scores].sort((left, right) => left.score - right.score);
  return worstFirst
    .map(({ name, score, reason }) => cutWithin(`- ${show(name, 100)}: ${score} of 1. ${reason}`, share))
    .join('\n');
}

/** A number, or its text: `"0.7"`. */
function numberOf(score: unknown): unknown {
  return typeof score === 'string' && /^\s*(?:\d+(?:\.\d+)?|\.\d+)\s*$/.test(score) ? Number(score) : score;
}

function refuse(reason: string): ParsedJudgement {
  return { ok: false, reason };
}
