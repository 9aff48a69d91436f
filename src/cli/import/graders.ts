/** The testing criteria of an eval as what each row asserts. */
import { modelOf } from '../task/model-name.js';
import type { Assertion } from '../task/row-scorer.js';
import { isObject } from '../../util/json.js';
import { valueProblem, type GraderForm } from './grader-forms.js';
import { named, type Report } from './imported.js';
import { filled, inWords, onlyPath } from './item-templates.js';
import { textOfContent } from './messages.js';
import { modelName } from './policies.js';

type Json = Record<string, unknown>;

/** What a row asserts; a text: why it cannot. */
export type Grader = (item: Json) => Assertion | string;

export interface Graders {
  graders: Grader[];
  /** The columns that graders compare with. */
  references: string[];
}

const ownScorer = 'use an http or a javascript scorer';

/** Of each metric the nearest one here; the reason where it is another. */
const metrics: Readonly<Record<string, { form: GraderForm; differs: boolean }>> = {
  bleu: { form: 'bleu', differs: false },
  gleu: { form: 'bleu', differs: true },
  rouge_l: { form: 'rouge_l', differs: false },
  rouge_1: { form: 'token_f1', differs: false },
  rouge_2: { form: 'rouge_l', differs: true },
  rouge_3: { form: 'rouge_l', differs: true },
  rouge_4: { form: 'rouge_l', differs: true },
  rouge_5: { form: 'rouge_l', differs: true },
  fuzzy_match: { form: 'token_f1', differs: true },
  meteor: { form: 'token_f1', differs: true },
};
const shownMetric: Partial<Record<GraderForm, string>> = { token_f1: 'token F1', rouge_l: 'ROUGE-L', bleu: 'BLEU' };

const judgeless = { provider: 'local', model: 'local' };
const assertion = (type: GraderForm, value: unknown, more: Partial<Assertion> = {}): Assertion => ({
  type,
  not: false,
  value,
  weight: 1,
  judge: judgeless,
  ...more,
});

export function readGraders(criteria: unknown, report: Report): Graders {
  const list = (Array.isArray(criteria) ? (criteria as unknown[]) : []).filter(isObject);
  const found: Graders = { graders: [], references: [] };
  const fields = new Map<string, string>();
  for (const [at, grader] of list.entries()) {
    const name = typeof grader['name'] === 'string' ? named(grader['name']) : `number ${at + 1}`;
    const leave = (reason: string) => report.leave(`the grader ${name} (${String(grader['type'])}): ${reason}`);
    if (grader['pass_threshold'] != null && grader['type'] !== 'string_check')
      report.note(`pass_threshold of the grader ${name} is not applied: a reward is the score itself`);
    const read = readOne(grader, { name, fields, report });
    if (typeof read === 'string') leave(read);
    else if (read) found.graders.push(read);
    const column = onlyPath(String(grader['reference'] ?? ''));
    if (typeof read !== 'string' && column?.[0] === 'item' && column.length === 2) found.references.push(column[1]!);
  }
  if (found.graders.length + fields.size > 1)
    report.note('the reward is the mean of the graders, of which OpenAI passes a row only if all pass');
  if (fields.size > 0) found.graders.push(fieldGrader(fields));
  return found;
}

interface Context {
  name: string;
  /** References by the field of the output's JSON that must equal them. */
  fields: Map<string, string>;
  report: Report;
}

/** A text: why it cannot be taken over; null: it is one of `fields`. */
function readOne(grader: Json, context: Context): Grader | string | null {
  switch (grader['type']) {
    case 'string_check':
      return stringCheck(grader, context);
    case 'text_similarity':
      return similarity(grader, context);
    case 'label_model':
      return judge(grader, context, labelScale);
    case 'score_model':
      return judge(grader, context, scoreScale);
    case 'python':
      return `its code is not run here; serve the function at a URL and ${ownScorer}`;
    case 'multi':
      return `a formula of several graders has no form here; ${ownScorer}, or weight scorers in one of type weighted`;
    default:
      return `this type is unknown here; ${ownScorer}`;
  }
}

/** What a grader looks at: the output, or a field of its JSON; a text: neither. */
function lookedAt(input: unknown, { name, report }: Context): { field: string | null } | string {
  const path = typeof input === 'string' ? onlyPath(input) : null;
  const [root, key, ...rest] = path ?? [];
  if (root === 'sample' && key === 'output_text' && rest.length === 0) return { field: null };
  if (root === 'sample' && key === 'output_json' && rest.length === 1) return { field: rest[0]! };
  if (root === 'sample' && key === 'output_json')
    return `it looks at ${path!.join('.')}; only the fields at the top of the JSON are compared here; ${ownScorer}`;
  if (root === 'item' && key !== undefined) {
    report.note(
      `the grader ${name} looks at {{${path!.join('.')}}} of the rows, answers of an earlier run; here it scores the answer of the model`,
    );
    return { field: null };
  }
  return `it looks at ${named(String(input))}, of which only {{sample.output_text}} and {{sample.output_json.field}} are known here; ${ownScorer}`;
}

const operations: Readonly<Record<string, { form: GraderForm; not?: boolean }>> = {
  eq: { form: 'equals' },
  ne: { form: 'equals', not: true },
  like: { form: 'contains' },
  ilike: { form: 'icontains' },
};

function stringCheck(grader: Json, context: Context): Grader | string | null {
  const operation = String(grader['operation']);
  const { form, not = false } = operations[operation] ?? {};
  if (form === undefined) return `the operation ${operation} is unknown; eq, ne, like and ilike are known`;
  let { input, reference } = grader;
  const isOutput = (value: unknown) => typeof value === 'string' && onlyPath(value)?.[0] === 'sample';
  // Equality has no sides.
  if (form === 'equals' && isOutput(reference) && !isOutput(input)) [input, reference] = [reference, input];
  const target = lookedAt(input, context);
  if (typeof target === 'string') return target;
  if (typeof reference !== 'string') return 'it has no reference';
  if (isOutput(reference)) return `it compares the output with the output; ${ownScorer}`;
  if (form === 'equals') context.report.note('an equal answer is one that differs at most in white space');
  if (target.field === null) return (item) => againstReference(form, reference, item, { not });
  if (operation !== 'eq') return `${operation} of a field of the output's JSON has no form here; ${ownScorer}`;
  context.fields.set(target.field, reference);
  return null;
}

function againstReference(
  form: GraderForm,
  reference: string,
  item: Json,
  more: Partial<Assertion>,
): Assertion | string {
  const value = filled(reference, item);
  if (value === undefined) return `has no value for ${named(reference)}`;
  const problem = valueProblem(form, value);
  return problem === null ? assertion(form, value, more) : `${named(value)} ${problem}`;
}

/** The fields of the output's JSON, of which each counts like a grader. */
function fieldGrader(fields: ReadonlyMap<string, string>): Grader {
  return (item) => {
    const value: Json = {};
    for (const [field, reference] of fields) {
      const wanted = filled(reference, item);
      if (wanted === undefined) return `has no value for ${named(reference)}`;
      value[field] = wanted;
    }
    return assertion('fields', value, { weight: fields.size });
  };
}

function similarity(grader: Json, context: Context): Grader | string {
  const metric = String(grader['evaluation_metric']);
  const found = metrics[metric];
  if (!found)
    return `${metric} ${metric === 'cosine' ? 'compares embeddings, which' : ''} has no form here; use a similarity or a rubric scorer`;
  const target = lookedAt(grader['input'], context);
  if (typeof target === 'string') return target;
  const { reference } = grader;
  if (target.field !== null || typeof reference !== 'string')
    return `similarity of a field of the output's JSON has no form here; ${ownScorer}`;
  if (found.differs)
    context.report.note(`${metric} of the grader ${context.name} is ${shownMetric[found.form]} here: scores differ`);
  return (item) => againstReference(found.form, reference, item, {});
}

/** A rubric of the grader's own messages; its judge sees row, output and expected value. */
function judge(grader: Json, { name, report }: Context, scaleOf: (grader: Json) => string | null): Grader | string {
  const messages = Array.isArray(grader['input']) ? (grader['input'] as unknown[]) : [];
  const texts = messages.map((one) => (isObject(one) ? textOfContent(one['content']) : null));
  if (texts.length === 0 || texts.includes(null)) return `its prompt has parts that are no text; ${ownScorer}`;
  const scale = scaleOf(grader);
  if (scale === null) return `it names no labels that pass; ${ownScorer}`;
  const model = modelName(grader['model']);
  if (model === null) return 'it names no model; use a rubric scorer';
  const description = [...texts.map((text) => inWords(text!)), scale].join('\n\n');
  if (description.length > 20_000) return 'its prompt has more than 20,000 characters; shorten it in a rubric scorer';
  report.note(
    `the grader ${name} is a rubric here, judged by ${model} with our prompt around its own: compare its scores`,
  );
  const criteria = {
    criteria: [
      {
        name:
          String(grader['name'] ?? 'grader')
            .slice(0, 100)
            .trim() || 'grader',
        description,
      },
    ],
  };
  return () => assertion('judged', criteria, { judge: modelOf(model) });
}

function labelScale({ labels, passing_labels: passing }: Json): string | null {
  const names = (list: unknown) => (Array.isArray(list) ? list.map((one) => JSON.stringify(one)).join(', ') : '');
  if (names(passing) === '') return null;
  return `Choose one of the labels ${names(labels)}. The score is the highest if it is ${names(passing).replaceAll(', ', ' or ')}, else the lowest.`;
}

function scoreScale({ range }: Json): string {
  const [low, high] = (Array.isArray(range) ? range : [0, 1]) as unknown[];
  return `Where the text names numbers, they are on a scale from ${String(low)} (the lowest score) to ${String(high)} (the highest score).`;
}
