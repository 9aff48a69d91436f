/** The prompt and the model of a run, among those of a promptfoo file or in their place. */
import { extname } from 'node:path';
import { ConfigError } from '../../../service/config.js';
import { urlSetting } from '../../../models/client/addresses/configured.js';
import type { Model } from '../model-name.js';
import type { Parameters } from '../policy.js';
import type { Prompt } from '../prompt-file.js';
import { FileFault, quoted, type Faults } from './faults.js';
import type { PromptfooFile } from './file.js';
import { listOfPrompts, messagesOf, namedPrompt, promptsOf, type NamedText } from './prompts.js';
import {
  listOfModels,
  modelsOf,
  namedModel,
  nameOf,
  settingsOf,
  unknownSettings,
  type NamedModel,
} from './providers.js';
import { messageText } from './templates.js';

/** Options of the command; any of them lets the first stand for several of another kind. */
export interface Given {
  /** A prompt of the file by its number, label or path, or another file. */
  prompt?: string | undefined;
  /** A model of the file by its id, label or name, or another model. */
  model?: string | undefined;
  /** `mapped`: the assertions that map, without the others. */
  scorer?: unknown;
}

export interface Context {
  file: PromptfooFile;
  given: Given;
  faults: Faults;
  note: (text: string) => void;
  /** Provider and model of a name. */
  modelOf: (name: string) => Model;
}

const isChosen = ({ prompt, model, scorer }: Given) => [prompt, model, scorer].some((one) => one !== undefined);

export interface ChosenPrompt {
  /** Null: an option names another one. */
  prompt: Prompt | null;
  /** What stands for a var in it, and what looks so but is a text. */
  names: string[];
  literals: string[];
  /** The entry of the file. */
  entry: NamedText | null;
}

/** Null: it has a fault. */
export function readPrompt(context: Context, config: unknown): Promise<ChosenPrompt | null> {
  const { file, faults } = context;
  return faults.try(async () => {
    try {
      const entry = await promptEntry(context, config);
      if (!entry) return { prompt: null, names: [], literals: [], entry };
      if (entry.fault) throw entry.fault;
      const read = messagesOf(file, entry.text).map(({ role, content }) => ({ role, ...messageText(file, content) }));
      const messages = read.map(({ role, content }) => ({ role, content }));
      const names = [...new Set(read.flatMap((message) => message.names))];
      return { prompt: { messages }, names, literals: read.flatMap((message) => message.literals), entry };
    } catch (error) {
      // A file that is not there, too, has another one as its remedy.
      throw error instanceof ConfigError && !(error instanceof FileFault)
        ? new FileFault(error.message, 'prompt')
        : error;
    }
  });
}

async function promptEntry({ file, given, faults, note }: Context, config: unknown): Promise<NamedText | null> {
  const { prompt: name } = given;
  // A file that an option names stands for all prompts, readable or not.
  if (name !== undefined && extname(name) !== '' && !JSON.stringify(config ?? '').includes(name)) return null;
  // promptfoo's own default.
  const prompts = await promptsOf(file, config ?? '{{prompt}}');
  if (name !== undefined) return namedPrompt(prompts, name);
  const readable = prompts.filter(({ fault }) => !fault);
  const first = readable[0] ?? prompts[0];
  if (!first) throw file.fault('has 0 prompts; name a prompt with --prompt FILE', 'prompt');
  if (prompts.length > 1 && readable.length > 0) {
    const listed = listOfPrompts(prompts);
    const at = prompts.indexOf(first) + 1;
    if (isChosen(given))
      note(
        `of its ${prompts.length} prompts the one that is run is ${listOfPrompts([first]).replace('1', String(at))}: --prompt chooses among ${listed}`,
      );
    else
      faults.add(
        file.fault(
          `has ${prompts.length} prompts; choose one with --prompt and its number or label: ${listed}`,
          'choice',
        ),
      );
  }
  return first;
}

export interface ChosenModel {
  /** Null: an option names another one. */
  model: string | null;
  /** The settings of the model. */
  policy: Parameters;
  /** The entry of the file. */
  entry: NamedModel | null;
}

/** Null: it has a fault. */
export function readModel(context: Context, config: unknown): Promise<ChosenModel | null> {
  const { file, given, faults, note, modelOf } = context;
  const { model: name } = given;
  return faults.try(async () => {
    const models = modelsOf(file, config);
    const entry = name === undefined ? firstModel(context, models) : namedModel(models, name);
    if (entry?.name === null && (name === undefined || !name.includes('/')))
      throw file.fault(
        `has the provider ${JSON.stringify(entry.id)}, which does not map; name a model with --model provider/model`,
        'model',
      );
    // Another model of an option answers with the settings of the only one.
    const source = entry ?? (models.length === 1 ? models[0]! : null);
    if (!source) return { model: null, policy: {}, entry: null };
    const isReplaced = name !== undefined && source !== entry;
    const { parameters, unread, unknown } = await settingsOf(file, source.config);
    const odd = [...unknown, ...source.others];
    // A model that is named as such is wanted without what does not map.
    if (odd.length > 0 && !isReplaced && (name === undefined || name !== source.name)) {
      if (source.name !== null) faults.values.model = source.name;
      throw file.fault(unknownSettings(source, odd), 'model');
    }
    const dropped = [...unread, ...odd];
    if (dropped.length > 0) note(`${dropped.join(', ')} of ${source.id} ${dropped.length > 1 ? 'are' : 'is'} not read`);
    if (source.name !== null && unread.some((field) => /url|host|endpoint/i.test(field)))
      note(`the address of ${source.name} is that of the service: set ${urlSetting(modelOf(source.name).provider)}`);
    return { model: isReplaced ? null : source.name, policy: parameters, entry };
  });
}

/** The only one, or the first that maps; several are a fault unless an option chooses something. */
function firstModel({ file, given, faults, note }: Context, models: readonly NamedModel[]): NamedModel {
  const mapped = models.filter((one) => one.name !== null);
  const first = mapped[0] ?? models[0];
  if (!first) throw file.fault('has 0 providers; name a model with --model provider/model', 'model');
  if (models.length < 2 || mapped.length === 0) return first;
  const listed = listOfModels(models);
  faults.values.model = nameOf(first);
  faults.choice = `--model ${quoted(nameOf(first))}`;
  if (isChosen(given))
    note(`of its ${models.length} providers ${nameOf(first)} answers: --model chooses among ${listed}`);
  else faults.add(file.fault(`has ${models.length} providers; choose one with --model: ${listed}`, 'choice'));
  return first;
}
