/**
 * Scores an output by comparison, without a model. An expected list holds right answers: each
 * scores, and the best counts. For `exact`, the list itself is one of them.
 */
import type { ComparingScorer, PartSpec, ScorerSpec, WeightedPart } from '../../contracts/scoring/scorer.js';
import { isObject } from '../../util/json.js';
import { patternProblem, scorePattern } from './pattern.js';
import { scoreSchema } from './schema.js';
import { goldProblem, score } from './score.js';
import { scoreSimilarity, wordsOf } from './similarity.js';
import { asText, maxFeedback, show, type JsonObject } from './text.js';
import type { Verification } from './verification.js';
import { cutWithin } from '../../util/text.js';

/** Right answers that feedback lists. */
const maxListed = 20;

export function isComparing(scorer: PartSpec): scorer is ComparingScorer {
  return scorer.mode !== 'rubric' && scorer.mode !== 'javascript' && scorer.mode !== 'http';
}

/**
 * Why a scorer cannot score by an expected value (undefined or null: none), as a predicate, or
 * null.
 */
export function expectedProblem(scorer: ScorerSpec, expected: unknown): string | null {
  const parts = partsFor(scorer, expected);
  if (parts.length === 0) return 'has none of the fields that the parts of the scorer compare with';
  for (const { scorer: part, field, expected: wanted } of parts) {
    const problem = isComparing(part) ? partProblem(part, wanted ?? undefined) : null;
    if (problem !== null) return field === undefined ? problem : `has a field "${field}", which ${problem}`;
  }
  return null;
}

/** A part of a scorer with what it compares with. */
export type AppliedPart = WeightedPart & { expected: unknown };

/** The parts that score a row: all but those whose field its expected value lacks. */
export function partsFor(scorer: ScorerSpec, expected: unknown): AppliedPart[] {
  if (scorer.mode !== 'weighted') return [{ weight: 1, scorer, expected }];
  return scorer.parts.flatMap((part) => {
    if (part.field === undefined) return [{ ...part, expected }];
    if (!isObject(expected) || !Object.hasOwn(expected, part.field)) return [];
    return [{ ...part, expected: expected[part.field] }];
  });
}

/**
 * The list of right answers in the forms of SQuAD (`{"text": […], "answer_start": […]}`) and of
 * TriviaQA (`{"value": "…", "aliases": […]}`); other values, and all for `json`, unchanged.
 */
function listOfAnswers({ mode }: ComparingScorer, expected: unknown): unknown {
  if (mode === 'json' || !isObject(expected)) return expected;
  const { text, value, aliases } = expected;
  if (Array.isArray(text) && Object.hasOwn(expected, 'answer_start')) return text;
  return typeof value === 'string' && Array.isArray(aliases) ? [...new Set<unknown>([value, ...aliases])] : expected;
}

function partProblem(scorer: ComparingScorer, given: unknown): string | null {
  if (scorer.mode === 'regex' && scorer.pattern !== null) return null;
  const expected = listOfAnswers(scorer, given);
  if (expected === undefined) return scorer.mode === 'json' && scorer.schema !== null ? null : 'is missing';
  if (!Array.isArray(expected)) return answerProblem(scorer, expected);
  if (scorer.mode === 'exact') return null;
  if (expected.length === 0) return 'is an empty list';
  const problems = expected.map((answer: unknown) => (answer === null ? 'is null' : answerProblem(scorer, answer)));
  const at = problems.findIndex((problem) => problem !== null);
  return at < 0 ? null : `is a list whose item ${at} ${problems[at]}`;
}

/** The same for one right answer. */
function answerProblem(scorer: ComparingScorer, expected: unknown): string | null {
  switch (scorer.mode) {
    case 'regex':
      return patternProblem(scorer, expected);
    case 'similarity':
      return wordsOf(asText(expected)).length > 0 ? null : 'has no words to compare with';
    default:
      return goldProblem(scorer, expected);
  }
}

/** Throws a RangeError if `expectedProblem` reports a problem; job creation rejects these. */
export function compare(scorer: ComparingScorer, given: unknown, output: string): Verification {
  const expected = listOfAnswers(scorer, given);
  const problem = expectedProblem(scorer, expected);
  if (problem !== null) throw new RangeError(`The expected value for the scorer ${scorer.mode} ${problem}.`);
  const isPattern = scorer.mode === 'regex' && scorer.pattern !== null;
  if (!Array.isArray(expected) || isPattern) return compareOne(scorer, expected, output);
  const answers: unknown[] = scorer.mode === 'exact' ? [...expected, expected] : expected;
  const scored = answers.map((answer) => compareOne(scorer, answer, output));
  const best = scored.reduce((left, right) => (right.reward > left.reward ? right : left));
  if (best.reward === 1 || expected.length < 2) return best;
  const listed = expected.slice(0, maxListed).map((answer: unknown) => show(answer, maxFeedback / maxListed / 2));
  const more = expected.length > maxListed ? ` and ${expected.length - maxListed} more` : '';
  return {
    ...best,
    feedback: cutWithin(`Any of these is right: ${listed.join(' | ')}${more}\n${best.feedback}`, maxFeedback),
  };
}

function compareOne(scorer: ComparingScorer, expected: unknown, output: string): Verification {
  switch (scorer.mode) {
    case 'regex':
      return scorePattern(scorer, expected, output);
    case 'similarity':
      return scoreSimilarity(scorer.metric, expected, output);
    case 'json': {
      const { schema } = scorer;
      return schema === null
        ? score(scorer, expected, output)
        : scoreSchema({ ...scorer, schema }, (expected ?? null) as JsonObject | null, output);
    }
    default:
      return score(scorer, expected, output);
  }
}
