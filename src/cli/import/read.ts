/** Reads what is imported, whatever of OpenAI's forms it has. */
import { rowPlaceholders, likelyInput } from '../../core/prompts/row-template.js';
import { ConfigError } from '../../service/config.js';
import { promptOfText } from '../task/prompt-file.js';
import { readPromptfoo } from '../task/promptfoo.js';
import { importEval } from './evals.js';
import { itemsOf } from './eval-rows.js';
import { type Imported, type ImportedPrompt, type Report, type Row, type SourceFile } from './imported.js';
import { piecesOf, type Pieces } from './pieces.js';
import { readStoredPrompt } from './prompts.js';
import { importRegistry } from './registry.js';
import { splitChats, splitSamples } from './samples.js';
import { stemOf } from './source.js';

/** Throws a ConfigError with the places of faults, and if there is nothing to import. */
export async function readImport(
  files: readonly SourceFile[],
  name: string | undefined,
  report: Report,
): Promise<Imported> {
  const pieces = await piecesOf(files);
  if (pieces.promptfoo.length > 0) return importPromptfoo(pieces.promptfoo, name, report);
  if (pieces.evals.length > 0) return importEval(pieces, name, report);
  if (pieces.registries.length > 0) return importRegistry(pieces, name, report);
  if (pieces.prompts.length > 0) return importPrompt(pieces, name, report);
  if (pieces.rows.length > 0) return importRows(pieces, report);
  if (pieces.texts.length === 1) return importText(pieces.texts[0]!);
  throw new ConfigError(nothing(pieces));
}

function nothing({ runs, texts, unknown }: Pieces): string {
  if (runs.length > 0) return `${runs[0]!.place} is a run without its eval; name the file of the eval, too`;
  if (texts.length > 1) return `there are several texts: ${texts.map(({ path }) => path).join(', ')}; name one of them`;
  return `${unknown.join(', ')} has none of the forms that are known: promptfoo's configuration, an eval of OpenAI (testing_criteria) with its rows, YAML and JSONL of openai/evals, a stored prompt or the body of a request (instructions, input, messages), rows as JSONL`;
}

async function importPromptfoo(paths: readonly string[], name: string | undefined, report: Report): Promise<Imported> {
  const [path, ...others] = paths;
  if (others.length > 0) throw new ConfigError(`there are several files of promptfoo: ${paths.join(', ')}; name one`);
  const { prompt, model, policy, rows, scorer, expected, notes } = await readPromptfoo(path!, {});
  for (const line of notes) report.note(line);
  const read = prompt && { messages: prompt.messages, model, policy, version: null };
  return {
    what: 'the configuration of promptfoo',
    name: name ?? stemOf(path!),
    rows: rows.map((value, at) => ({ value, place: `${path}, test ${at + 1}` })),
    input: null,
    expected,
    scorer,
    ...served(read),
  };
}

const served = (prompt: ImportedPrompt | null) => ({ prompts: prompt ? [prompt] : [], served: prompt });
const withoutRows = { rows: [], input: null, expected: null, scorer: null };

function importPrompt({ prompts, rows }: Pieces, name: string | undefined, report: Report): Imported {
  const read = prompts.map((one) => ({ ...one, stored: readStoredPrompt(one, report) }));
  const called = read.filter(({ stored }) => stored.name !== null && stored.name === name);
  const [only] = called.length === 1 ? called : read;
  if (called.length !== 1 && read.length > 1)
    throw new ConfigError(
      `there are ${read.length} prompts; name one file, or choose by --name: ${read.map(({ stored, place }) => stored.name ?? place).join(', ')}`,
    );
  const { stored, place } = only!;
  if (rows.length > 0) report.leave(`${rows[0]!.path}: rows without an eval; give them to a job with --data`);
  return {
    ...withoutRows,
    what: stored.what,
    name: stored.name ?? stemOf(place.split(' ')[0]!),
    prompts: stored.versions,
    served: stored.served,
  };
}

function importText({ path, text }: SourceFile): Imported {
  const { messages } = promptOfText(text.trim());
  return {
    ...withoutRows,
    what: 'a prompt',
    name: stemOf(path),
    ...served({ messages, model: null, policy: {}, version: null }),
  };
}

/** Rows without an eval, with the prompt that is beside them. */
function importRows(pieces: Pieces, report: Report): Imported {
  const [piece, ...others] = pieces.rows;
  if (others.length > 0)
    throw new ConfigError(
      `there are several files of rows: ${pieces.rows.map(({ path }) => path).join(', ')}; name one`,
    );
  const { form, path } = piece!;
  if (form === 'output') report.leave('answers and grades of the run: the model answers anew');
  const items =
    form === 'output'
      ? piece!.rows.map(({ value, place }) => ({ place, value: value['datasource_item'] as Row['value'] }))
      : itemsOf(piece!, report);
  const name = stemOf(path);
  const text = pieces.texts.length === 1 ? pieces.texts[0] : undefined;
  if (form === 'sample' || (form === 'item' && items.every(({ value }) => 'input' in value && 'ideal' in value))) {
    report.note('no eval is beside the rows: answers are scored by "exact" until --scorer names another scorer');
    const { rows, prompt } = splitSamples(items, report);
    return {
      what: form === 'sample' ? 'samples of openai/evals' : 'rows of an eval of OpenAI',
      name,
      rows,
      input: null,
      expected: 'ideal',
      scorer: null,
      ...served(prompt),
    };
  }
  if (form === 'chat') {
    const { rows, prompt, isAnswered } = splitChats(items, report);
    const expected = isAnswered ? 'expected' : null;
    return {
      what: 'chats of a file for fine-tuning',
      name,
      rows,
      input: null,
      expected,
      scorer: null,
      ...served(prompt),
    };
  }
  report.note('no graders are beside the rows: name the right answers with --expected and their --scorer');
  const messages = text && promptOfText(text.text.trim()).messages;
  const prompt = messages ? { messages, model: null, policy: {}, version: null } : null;
  return { what: 'rows', name, rows: items, input: null, expected: null, scorer: null, ...served(prompt) };
}

/** The variables that the application of a prompt fills in. */
export function variablesOf({ messages }: ImportedPrompt): string[] {
  return rowPlaceholders(messages, likelyInput);
}
