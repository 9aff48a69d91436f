/**
 * A rubric's forms.
 *
 * As an object: `{"criteria": [{"name", "weight", "description"}]}`. As a text it is a list where every line is an item
 * `- name (weight): description` (or `*` for `-`; the weight a decimal number greater than 0, at most 1,000,000), blank, or indented, which
 * goes on with the description above it; the first line that is not blank is an item; no name stands twice; there are at
 * most `maxCriteria` items. Any other text is one criterion named "rubric" with weight 1, the text its description: no
 * text of a rubric is refused for its form.
 */
import type { Rubric } from '../../contracts/graphs/verifier.js';
import { normalize } from './text.js';
import type { Criterion } from './verification.js';

/** Criteria that one judgement is asked for, at most. */
export const maxCriteria = 20;

/** The weight of a criterion, at most. */
const maxWeight = 1_000_000;

/** How names of criteria are told apart: without case and by the words alone. */
export function criterionKey(name: string): string {
  return normalize(name, false);
}

/** What a rubric asks for, at least one criterion. */
export function criteriaOf(rubric: Rubric): Criterion[] {
  if (typeof rubric !== 'string')
    return rubric.criteria.map(({ name, weight, description }) => ({ name, weight, description }));
  return readList(rubric) ?? [{ name: 'rubric', weight: 1, description: rubric.trim() }];
}

/** The items of a text that is a list, or null. */
function readList(text: string): Criterion[] | null {
  const criteria: Criterion[] = [];
  for (const line of text.split(/\r\n|[\n\r\u2028\u2029]/).filter((one) => one.trim() !== '')) {
    const last = criteria.at(-1);
    const item = /^[-*] +(\S.*?)\((\d+(?:\.\d+)?)\) *:(.*)$/.exec(line);
    if (item) {
      criteria.push({ name: item[1]!.trim(), weight: Number(item[2]), description: item[3]!.trim() });
    } else if (last && /^\s/.test(line)) {
      last.description = `${last.description}\n${line.trim()}`.trim();
    } else {
      return null;
    }
  }
  const names = new Set(criteria.map(({ name }) => criterionKey(name)));
  const isList = names.size === criteria.length && criteria.length >= 1 && criteria.length <= maxCriteria;
  return isList && criteria.every(({ weight }) => weight > 0 && weight <= maxWeight) ? criteria : null;
}

/** What mode gold_examples asks its judge: one criterion, whose score is the reward. */
export const agreement: readonly Criterion[] = [
  {
    name: 'agreement',
    weight: 1,
    description:
      'How well the output agrees with the wanted output of this task in what it says. The wanted outputs of other tasks show ' +
      'what kind of output, form and length is wanted. Other words for the same are as good; what is missing, wrong or too ' +
      'much lowers the score.',
  },
];

/** Of the tasks whose gold outputs may be shown, those that are shown beside `task`: the ones that follow it, in a circle. */
export function exampleTasks(task: number, among: readonly number[], count = 3): number[] {
  const others = among.filter((one) => one !== task).sort((left, right) => left - right);
  const later = others.findIndex((one) => one > task);
  const from = later < 0 ? 0 : later;
  return [...others.slice(from), ...others.slice(0, from)].slice(0, count);
}
