/**
 * Tasks of real strings with exact right answers. Each has a prompt that a person wrote before any
 * search. A task enters the table if it is at least 0.15 better than the base prompt.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as intents from '../../examples/intents/container.js';
import type { Score } from '../../src/container/index.js';
import type { TextRow } from './splits.js';
import { extractedRows, generatedRows } from './tasks/rows.js';
import { exact, exactEnd } from './tasks/scores.js';

export interface TextTask {
  name: string;
  /** The base prompt. */
  instruction: string;
  /** A person's prompt. */
  person: string;
  /** Of an answer. */
  maxTokens: number;
  rows(folder: string): Promise<TextRow[]>;
  score(row: TextRow, answer: string): Score;
}

const examples = join(import.meta.dirname, '..', '..', 'examples', 'intents');
const guide = JSON.parse(readFileSync(join(examples, 'labels.json'), 'utf8')) as Record<string, string>;
const labels = Object.keys(guide).sort();

const price: TextTask = {
  name: 'price',
  instruction: 'Extract the price from the text. Answer with the number alone.',
  person: [
    'Extract the price from the text. Answer with the number alone, in its shortest form:',
    '- Drop decimals that are zero: "$48.00" is 48; "210,00 €" is 210; "9400.00" is 9400.',
    '- Drop a zero at the end of the decimals: "52,30 €" is 52.3; "71.80" is 71.8.',
    '- The decimal separator is a point: "12,95" is 12.95. A leading one gets a zero: ".65" is 0.65.',
    '- No spaces or separators of thousands: "1 849 руб." is 1849; "7.340,00" is 7340; "$2,150.99" is 2150.99.',
    '- A point or a comma before three digits separates thousands: "Rp 63.000" is 63000; "17.500 ₫" is 17500.',
    '- Of several prices the first: "641,00 zł – 795,00 zł" is 641. Without a price: none.',
  ].join('\n'),
  maxTokens: 32,
  rows: extractedRows('price', { name: 'price-parser', version: '0.5.1' }),
  score: exact,
};

const intent: TextTask = {
  name: 'intents',
  instruction: intents.initialPrompt,
  person: [
    intents.initialPrompt,
    'The labels mean:',
    ...Object.entries(guide).map(([label, meaning]) => `- ${label}: ${meaning}`),
  ].join('\n'),
  maxTokens: 32,
  async rows() {
    const rows = await intents.readIntents(join(examples, 'data.jsonl'));
    return rows.map((row) => ({ input: intents.question(row, labels), expected: row.label }));
  },
  score({ input, expected }, answer) {
    const [, text = ''] = /^Message: (.*)$/m.exec(input) ?? [];
    return intents.score({ text, label: expected }, answer, labels, guide);
  },
};

const date: TextTask = {
  name: 'date',
  instruction: 'Write the date in the text in a standard form. Answer with the date alone.',
  person: [
    'The text has a date, in any language. Answer with the date alone, as YYYY-MM-DD, without the time:',
    '- year with four digits, month and day with two: "Tues 9th Aug, 2015" is 2015-08-09;',
    '- leave out hours, minutes and the day of the week: "10:06am Dec 11, 2014" is 2014-12-11;',
    '- with numbers alone and the year last, the day comes first if it is above 12: "13/03/2014" is 2014-03-13;',
    '- with points the day comes first: "27. 05. 2022." is 2022-05-27.',
  ].join('\n'),
  maxTokens: 32,
  rows: extractedRows('date', { name: 'dateparser', version: '1.5.0' }),
  score: exact,
};

const street: TextTask = {
  name: 'street',
  instruction: 'Extract the name of the street from the address. Answer with the name alone.',
  person: [
    'Extract the name of the street from the address. Answer with the bare name, written as in the address:',
    '- without the house number;',
    '- without the kind of street at its end, such as St, Street, Ave, Blvd, Rd, Drive, Ln, Pkwy, Way, Pl;',
    '- without a direction before or after it, such as N, S., West, NE;',
    '- without floor, suite, city, state and zip code.',
    'Examples: "217 W. Monroe St., Springfield, IL 62701" is Monroe; "100 N 17th street, Phila" is 17th;',
    '"974 LOCUST WAY LAFAYETTE HILL PA" is LOCUST.',
  ].join('\n'),
  maxTokens: 32,
  rows: extractedRows('street', { name: 'usaddress', version: '0.5.16' }),
  score: exact,
};

const indexName: TextTask = {
  name: 'index-name',
  instruction: 'Write the name as it stands in an index. Answer with the name alone.',
  person: [
    'Write the name of the person as in an index: the surname, a comma, a space, then the first given name.',
    '- Leave out titles (Mr, Miss, Dr.), degrees and suffixes (M.D., Jr.), professions and nicknames.',
    '- Leave out middle names and initials: "MR ALTON W ALMQUIST" is ALMQUIST, ALTON.',
    '- Keep all words of a surname: "Thomas La Porta" is La Porta, Thomas.',
    '- Keep capitals and small letters as they are: "jon gray noll" is noll, jon.',
    '- If the surname already comes first, keep that order: "LONSKI, MARK R" is LONSKI, MARK.',
  ].join('\n'),
  maxTokens: 32,
  rows: extractedRows('index-name', { name: 'probablepeople', version: '0.5.6' }),
  score: exact,
};

const legs: TextTask = {
  name: 'legs',
  instruction: 'Answer the question with the number alone.',
  person: [
    'Count the legs. Legs of one animal:',
    '0: snake, sea slug, jellyfish, flatworm, leech; 2: chicken, bird, human, duck; 5: starfish;',
    '6: insect, ant, butterfly, beetle, bee, wasp, grasshopper, cricket, cockroach, praying mantis, firefly;',
    '8: spider, scorpion; 10: crab, lobster, shrimp; 14: woodlouse; 4: all others.',
    'For each animal write count * legs = product. Add the products one by one. End with "Answer: " and the number.',
    'Example: 3 bees, 2 dogs. 3 * 6 = 18. 2 * 4 = 8. 18 + 8 = 26. Answer: 26',
  ].join('\n'),
  maxTokens: 96,
  rows: generatedRows('legs', 'leg_counting', { min_animals: 2, max_animals: 3, max_instances: 9 }),
  score: exactEnd,
};

const sums: TextTask = {
  name: 'sums',
  instruction: 'Answer with the number alone.',
  person: [
    'Solve the problem from left to right, one operation a line, with the result so far on each line.',
    'End with "Answer: " and the number. Example: 42 - 25 - 73.',
    '42 - 25 = 17',
    '17 - 73 = -56',
    'Answer: -56',
  ].join('\n'),
  maxTokens: 96,
  rows: generatedRows('sums', 'chain_sum', { min_terms: 3, max_terms: 4, min_digits: 2, max_digits: 3 }),
  score: exactEnd,
};

const equations: TextTask = {
  name: 'equations',
  instruction: 'Answer with the number alone.',
  person: [
    'Solve the equation. First subtract the constant from both sides, then divide by the factor of the variable.',
    'Write each step on a line. End with "Answer: " and the number. Example: Solve for e: 56 - 98*e = -1218.',
    '-98*e = -1218 - 56 = -1274',
    'e = -1274 / -98 = 13',
    'Answer: 13',
  ].join('\n'),
  maxTokens: 96,
  rows: generatedRows('equations', 'simple_equations', {}),
  score: exactEnd,
};

const relatives: TextTask = {
  name: 'relatives',
  instruction: 'Answer the question with one word.',
  person: [
    'Answer with one word in small letters: what the first person in the question is to the second one.',
    'Names like Edward, Henry, James are of men; names like Sarah, Emma, Lily are of women. Choose from:',
    'father, mother, son, daughter, husband, wife, grandfather, grandmother, grandson, granddaughter, brother,',
    'sister, father-in-law, mother-in-law, son-in-law, daughter-in-law.',
    'Married to each other: husband or wife. A parent of the husband or wife: father-in-law or mother-in-law.',
    'The husband or wife of a child: son-in-law or daughter-in-law.',
  ].join('\n'),
  maxTokens: 16,
  rows: generatedRows('relatives', 'family_relationships', {}),
  score: exact,
};

/** Tasks of the table. */
export const tasks: readonly TextTask[] = [price, intent, date, street, indexName];
/** And those whose room for a better prompt is not measured yet: only if named. */
export const allTasks: readonly TextTask[] = [...tasks, legs, sums, equations, relatives];

export function taskNamed(name: string): TextTask {
  const task = allTasks.find((each) => each.name === name);
  if (!task) throw new RangeError(`No task "${name}"; tasks are ${allTasks.map((each) => each.name).join(', ')}.`);
  return task;
}
