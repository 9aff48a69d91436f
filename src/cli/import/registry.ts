/** Evals of the open source repository openai/evals: YAML of a class and its samples. */
import { basename, dirname, join } from 'node:path';
import { ConfigError } from '../../service/config.js';
import { asObject, isObject } from '../../util/json.js';
import { anyFiles } from '../task/files.js';
import type { Assertion } from '../task/row-scorer.js';
import { withScorer } from './evals.js';
import { valueProblem, type GraderForm } from './grader-forms.js';
import { named, type Imported, type Report, type Row } from './imported.js';
import { judgeCriteria } from './modelgraded.js';
import type { Pieces } from './pieces.js';
import { splitSamples } from './samples.js';
import { contentOf } from './source.js';

type Json = Record<string, unknown>;
type Registry = Pieces['registries'][number];

interface Spec {
  name: string;
  /** `Match` of `evals.elsuite.basic.match:Match`. */
  kind: string;
  args: Json;
  path: string;
}

/** `name` chooses among several. */
export async function importRegistry(pieces: Pieces, name: string | undefined, report: Report): Promise<Imported> {
  const spec = chosenSpec(pieces.registries.flatMap(specsOf), name);
  const form = formOf(spec, report);
  const samples = await samplesOf(pieces, spec);
  for (const { value, place } of samples)
    if (value['input'] === undefined || value['ideal'] === undefined)
      throw new ConfigError(`${place} must have an input and an ideal`);
  if (Number(spec.args['num_few_shot'] ?? 0) > 0)
    report.leave(
      `${spec.args['num_few_shot'] as number} examples of ${String(spec.args['few_shot_jsonl'])} before each question: a search adds rows as examples by itself`,
    );
  const { rows, prompt } = splitSamples(samples, report);
  const judge = form === 'judged' ? await judgeCriteria(spec.args['modelgraded_spec'], spec.path, report) : null;
  const asserted = rows.map((row) => [assertionOf(row, form, judge)]);
  const { rows: scored, scorer, expected } = withScorer(rows, asserted, ['input']);
  return {
    what: `the eval ${named(spec.name)} of openai/evals`,
    name: spec.name,
    rows: scored,
    input: null,
    expected: expected ?? 'ideal',
    scorer,
    prompts: [prompt],
    served: prompt,
  };
}

function specsOf({ value, path }: Registry): Spec[] {
  return Object.entries(value).flatMap(([id, one]) => {
    if (!isObject(one) || typeof one['class'] !== 'string') return [];
    // `anagrams` is the name whose id is `anagrams.test.v1`.
    const alias = Object.entries(value).find(([, other]) => asObject(other)?.['id'] === id)?.[0];
    const kind = one['class'].split(':').at(-1)!;
    return [{ name: alias ?? id, kind, args: asObject(one['args']) ?? {}, path }];
  });
}

function chosenSpec(specs: readonly Spec[], name: string | undefined): Spec {
  const called = specs.filter((one) => one.name === name);
  if (called.length === 1 || specs.length === 1) return called[0] ?? specs[0]!;
  const names = specs.slice(0, 20).map((one) => JSON.stringify(one.name));
  throw new ConfigError(`there are ${specs.length} evals; choose one by --name: ${names.join(', ')}`);
}

/** A text: what is wrong with the right answer. */
function assertionOf({ value: { ideal }, place }: Row, form: GraderForm, judge: object | null): Assertion | string {
  const given = form === 'fields' ? jsonOf(ideal) : ideal;
  if (form === 'fields' && !isObject(given)) return `${place} ideal must be the JSON of an object`;
  const isText = (one: unknown) => typeof one === 'string' && one.trim() !== '';
  if (form !== 'fields' && !(Array.isArray(ideal) ? ideal.length > 0 && ideal.every(isText) : isText(ideal)))
    return `${place} ideal must be a text or a list of texts`;
  const problem = valueProblem(form, given);
  if (problem !== null) return `${place} ideal ${problem}`;
  return { type: form, not: false, value: judge ?? given, weight: 1, judge: { provider: 'local', model: 'local' } };
}

function jsonOf(ideal: unknown): unknown {
  const text = Array.isArray(ideal) ? (ideal as unknown[])[0] : ideal;
  try {
    return typeof text === 'string' ? (JSON.parse(text) as unknown) : text;
  } catch {
    return null;
  }
}

function formOf({ kind, args, name, path }: Spec, report: Report): GraderForm {
  switch (kind) {
    case 'Match':
      report.note('Match: an answer is right that begins with the right one, case included');
      return 'begins';
    case 'Includes':
      return args['ignore_case'] === true ? 'icontains' : 'contains';
    case 'FuzzyMatch':
      report.note(
        'FuzzyMatch: here the answer must contain the right one; a part of the right one alone is not enough',
      );
      return 'words';
    case 'JsonMatch':
      report.note('JsonMatch: the reward is the share of the fields that are equal, not all or none');
      return 'fields';
    case 'ModelBasedClassify':
      return 'judged';
    default:
      throw new ConfigError(
        `${path} has the eval ${named(name)} of the class ${kind}, which is code of openai/evals; Match, Includes, FuzzyMatch, JsonMatch and ModelBasedClassify map. Import its samples alone, and score them by an http scorer`,
      );
  }
}

async function samplesOf(pieces: Pieces, { args, path, name }: Spec): Promise<Row[]> {
  const { samples_jsonl: file } = args;
  if (typeof file !== 'string')
    throw new ConfigError(`${path} has no samples_jsonl in args of ${named(name)}; samples of programs do not map`);
  if (/^\w+:\/\//.test(file))
    throw new ConfigError(`${path} has samples at ${file}, which is not fetched; download it`);
  const piece =
    pieces.rows.find((one) => one.path.endsWith(file)) ??
    pieces.rows.find((one) => basename(one.path) === basename(file));
  if (piece) return piece.rows;
  // In the repository, data are in a folder beside that of the YAML.
  const paths = [
    join(dirname(path), '..', 'data', file),
    join(dirname(path), file),
    join(dirname(path), basename(file)),
  ];
  for (const one of paths) {
    const text = await anyFiles.textIfThere(one, path);
    if (text === null) continue;
    const content = await contentOf({ path: one, text });
    if (content.form !== 'lines') throw new ConfigError(`${one} must be JSONL`);
    return content.lines.map(({ value, place }) => {
      if (!isObject(value)) throw new ConfigError(`${place} must be an object`);
      return { value, place };
    });
  }
  throw new ConfigError(
    `${path} names the samples ${file}, which are not at ${paths.join(', ')}; name their file, too`,
  );
}
