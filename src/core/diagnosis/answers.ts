/** What the answers of a run alone tell: all are wrong, many rollouts failed, many are empty. */
import { emptySentences, totalEmpty } from '../answers/empty-answers.js';
import { cutWithin } from '../../util/text.js';
import { mostFacts, type Action, type AnswersRecord, type Diagnosis, type RowCause } from './diagnosis.js';
import { causesOf, diagnosedRows, unnamedLabels } from './rows.js';
import { counted, grouped } from '../math/words.js';
import { listed } from './words.js';

/** What the answers of a run show, and so which rows to read. */
export type Symptom = 'rollouts_failed' | 'answers_empty' | 'all_wrong';

/** Fewer answers of a run that goes on show nothing yet. */
const leastAnswers = 10;
/** Shares that are many: of an evaluation, and of a search. */
const many = { evaluation: { failed: 0.1, empty: 0.2 }, search: { failed: 0.5, empty: 0.5 } };
const labelsShown = 8;

type Counts = Pick<AnswersRecord, 'isEnded' | 'isSearch' | 'scored' | 'failed' | 'rewards' | 'empty'>;

/** Null: the answers are as answers are. */
export function symptomOf({ isEnded, isSearch, scored, failed, rewards, empty }: Counts): Symptom | null {
  const all = scored + failed;
  if (all === 0 || (!isEnded && all < leastAnswers)) return null;
  if (scored === 0) return 'rollouts_failed';
  const least = isSearch ? many.search : many.evaluation;
  if (totalEmpty(empty) * 2 > scored) return 'answers_empty';
  if (rewards !== null && rewards.low === 0 && rewards.high === 0) return 'all_wrong';
  if (failed >= least.failed * all) return 'rollouts_failed';
  return totalEmpty(empty) >= least.empty * scored ? 'answers_empty' : null;
}

/** Null: there is no symptom. */
export function diagnoseAnswers(record: AnswersRecord): Diagnosis | null {
  const symptom = symptomOf(record);
  switch (symptom) {
    case 'rollouts_failed':
      return diagnoseFailed(record);
    case 'answers_empty':
      return diagnoseEmpty(record);
    case 'all_wrong':
      return diagnoseWrong(record);
    case null:
      return null;
  }
}

const soFar = ({ isEnded }: AnswersRecord) => (isEnded ? '' : ' so far');

function diagnoseFailed(record: AnswersRecord): Diagnosis {
  const { scored, failed } = record;
  const rows = diagnosedRows(record.rows, record);
  const all = scored + failed;
  const share = scored === 0 ? `All ${counted(all, 'answer')}` : `${grouped(failed)} of ${counted(all, 'answer')}`;
  const [first] = rows;
  const cause = first ? `: ${cutWithin(first.because, 500)}` : '.';
  return {
    code: 'rollouts_failed',
    sentence: `${share} failed${soFar(record)}${cause}`,
    facts: scored === 0 ? [] : ['The mean reward leaves failed answers out.'],
    rows,
    action: null,
  };
}

function diagnoseEmpty(record: AnswersRecord): Diagnosis {
  const { scored, empty } = record;
  return {
    code: 'answers_empty',
    sentence: `${grouped(totalEmpty(empty))} of ${counted(scored, 'answer')}${soFar(record)} have no text.`,
    facts: [emptySentences(empty)],
    rows: diagnosedRows(record.rows, record),
    action: { kind: 'new_run', label: 'New run with another limit or model' },
  };
}

function diagnoseWrong(record: AnswersRecord): Diagnosis {
  const { rows, scored } = record;
  const unnamed = unnamedLabels(record);
  const causes = causesOf(rows, record);
  const [main = 'wrong'] = causes.map(([cause]) => cause);
  const all =
    scored === 1 ? 'The only answer was wrong' : `All ${counted(scored, 'answer')}${soFar(record)} were wrong`;
  return {
    code: 'all_wrong',
    sentence: `${all}: ${explanations[main](record, unnamed)}.`,
    facts: factsOf(record, main, unnamed),
    rows: diagnosedRows(rows, record),
    action: actionOf(main, record.labels),
  };
}

const none = 'each scored 0';

const explanations: Record<RowCause, (record: AnswersRecord, unnamed: readonly string[]) => string> = {
  label_not_in_prompt: ({ labels }, unnamed) =>
    unnamed.length === labels.length
      ? `the prompt does not name the ${counted(labels.length, 'label')} that count as right`
      : `the prompt does not name ${unnamed.length} of the ${counted(labels.length, 'label')} that count as right`,
  format: () => 'the model says what is expected, but in a form that the scorer does not accept',
  refusal: () => 'the model refuses',
  empty: () => 'the model gives no text',
  cut: () => 'cut off at the limit of tokens',
  scorer: () => 'the scorer failed',
  failed: () => none,
  wrong: () => none,
};

function factsOf(record: AnswersRecord, main: RowCause, unnamed: readonly string[]): string[] {
  const { labels, isLocal } = record;
  const facts: string[] = [];
  if (unnamed.length > 0) facts.push(`Not in the prompt: ${listed(unnamed, labelsShown)}.`);
  if (isLocal && (unnamed.length > 0 || labels.length === 0)) {
    facts.push(
      'The model "local" only matches words against labels that the prompt lists. It needs them there, or take another model.',
    );
  }
  if (main === 'format') facts.push(record.formAdvice);
  if (main === 'cut') facts.push('Raise max_tokens of the model, or ask for shorter answers.');
  if (facts.length === 0)
    facts.push('Compare the rows below with what you expect: the prompt, the data or the scorer is off.');
  return facts.slice(0, mostFacts);
}

function actionOf(main: RowCause, labels: readonly string[]): Action {
  if (main === 'label_not_in_prompt') {
    const promptAddition = `Answer with one of: ${labels.join(', ')}.`;
    return { kind: 'new_run', label: 'New run with the labels in the prompt', promptAddition };
  }
  if (main === 'format') return { kind: 'new_run', label: 'New run with another prompt or scorer' };
  if (main === 'cut') return { kind: 'new_run', label: 'New run with a higher limit, or another prompt' };
  return { kind: 'new_run', label: 'New run with another prompt' };
}
