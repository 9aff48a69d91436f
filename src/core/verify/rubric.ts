/**
 * Parses rubrics: an object `{"criteria": [{"name", "weight", "description"}]}`, or a text.
 *
 * A text is a list if each line is an item `- name (weight): description` (or `*` for `-`), blank,
 * or indented (it continues the description above), if its first line is an item, all names differ,
 * and it has at most `maxCriteria` items. Any other text is one criterion named "rubric" of weight
 * 1.
 */
import type { Rubric } from '../../contracts/rubric.js';
import { normalize } from './text.js';
import type { Criterion } from './verification.js';

/** Maximum criteria of one judgement. */
export const maxCriteria = 20;

const maxWeight = 1_000_000;

/** Identity of a criterion's name: case and white space do not count. */
export function criterionKey(name: string): string {
  return normalize(name, false);
}

export function parseRubric(rubric: Rubric): Criterion[] {
  if (typeof rubric !== 'string')
    return rubric.criteria.map(({ name, weight, description }) => ({ name, weight, description }));
  return readList(rubric) ?? [{ name: 'rubric', weight: 1, description: rubric.trim() }];
}

/** Null: the text is no list. */
function readList(text: string): Criterion[] | null {
  const criteria: Criterion[] = [];
  for (const line of text.split(/\r\n|[\n\r\u2028\u2029]/).filter((item) => item.trim() !== '')) {
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

/** The only criterion of a judge that compares with gold outputs. */
export const agreementCriteria: readonly Criterion[] = [
  {
    name: 'agreement',
    weight: 1,
    description:
      'How well the output agrees with the wanted output of this task in what it says. The wanted outputs of other tasks show ' +
      'what kind of output, form and length is wanted. Other words for the same are as good; what is missing, wrong or too ' +
      'much lowers the score.',
  },
];

/** The examples shown with `task`: those that follow it in `among`, wrapping around. */
export function selectExampleTasks(task: number, among: readonly number[], count: number): number[] {
  const others = among.filter((item) => item !== task).sort((left, right) => left - right);
  const later = others.findIndex((item) => item > task);
  const from = later < 0 ? 0 : later;
  return [...others.slice(from), ...others.slice(0, from)].slice(0, count);
}
