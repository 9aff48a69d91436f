/** The judges of openai/evals: a YAML with the prompt of a classification. */
import { dirname, join } from 'node:path';
import { ConfigError } from '../../service/config.js';
import { asObject } from '../../util/json.js';
import { anyFiles } from '../task/files.js';
import { parseYaml } from '../task/promptfoo/file.js';
import type { Report } from './imported.js';
import { chatOf } from './messages.js';

const places: Readonly<Record<string, string>> = {
  '{completion}': '(the output)',
  '{ideal}': '(the expected value)',
  '{input}': '(the input of the row)',
};

/** The criteria of a rubric; throws a ConfigError if the file is not beside that of the eval. */
export async function judgeCriteria(spec: unknown, path: string, report: Report): Promise<object> {
  const name = String(spec);
  const file = join(dirname(path), '..', 'modelgraded', `${name}.yaml`);
  const beside = join(dirname(path), `${name}.yaml`);
  const text = (await anyFiles.textIfThere(file, path)) ?? (await anyFiles.textIfThere(beside, path));
  if (text === null)
    throw new ConfigError(`${path} names the judge ${name}, which is neither ${file} nor ${beside}; copy it there`);
  const specs = asObject(parseYaml(text, file)) ?? {};
  const [only, ...others] = Object.values(specs);
  const { prompt, choice_scores: scores } = asObject(specs[name] ?? (others.length === 0 ? only : null)) ?? {};
  const words =
    typeof prompt === 'string'
      ? prompt
      : chatOf(prompt)
          ?.map(({ content }) => content)
          .join('\n\n');
  if (words === undefined) throw new ConfigError(`${file} has no prompt under ${name}`);
  const known = asObject(scores);
  if (!known) report.note(`the choices of ${name} have no scores: here an output that agrees scores the highest`);
  report.note(`no model of the judge is named: "local" stands in scorer of ratchet.json until you write another one`);
  const scale = known
    ? `Each choice has a score: ${Object.entries(known)
        .map(([choice, score]) => `${choice}: ${String(score)}`)
        .join(', ')}.`
    : 'The score is the highest if the output agrees with the expected value, else the lowest.';
  const shown = words.replaceAll(/\{(?:completion|ideal|input)\}/g, (place) => places[place]!);
  return { criteria: [{ name: name.slice(0, 100), description: `${shown}\n\n${scale}` }] };
}
