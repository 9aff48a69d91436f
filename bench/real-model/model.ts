/** A small language model in this process: gemma-3-270m (base, 4-bit), greedy. */
import { createHash } from 'node:crypto';
import { appendFile, readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import type { ModelFiles } from './files.js';
import { stop } from './layout.js';

/** The part of node-llama-cpp that is used; the bench installs it on demand. */
interface LlamaModule {
  getLlama(options: object): Promise<{ loadModel(options: object): Promise<LlamaModel> }>;
  LlamaCompletion: new (options: object) => {
    generateCompletion(text: string, options: object): Promise<string>;
  };
}
interface LlamaModel {
  createContext(options: object): Promise<{ getSequence(): object }>;
}

export interface LanguageModel {
  /** Continues the text until the end of an answer; the same text gets the same answer. */
  complete(text: string): Promise<string>;
}

const contextTokens = 8_192;
const maxTokens = 12;

/** Loads the model. Answers are kept in `answersFile`, since they do not depend on the run. */
export async function loadModel({ entry, weights }: ModelFiles, answersFile: string): Promise<LanguageModel> {
  const { getLlama, LlamaCompletion } = (await import(pathToFileURL(entry).href)) as LlamaModule;
  const llama = await getLlama({ gpu: false, logLevel: 'error' });
  const model = await llama.loadModel({ modelPath: weights });
  const context = await model.createContext({ contextSize: contextTokens, threads: 1 });
  const completion = new LlamaCompletion({ contextSequence: context.getSequence() });
  const answers = await readAnswers(answersFile);
  let last: Promise<unknown> = Promise.resolve();
  const generate = async (text: string, key: string): Promise<string> => {
    const known = answers.get(key);
    if (known !== undefined) return known;
    const options = { maxTokens, temperature: 0, customStopTriggers: [stop] };
    const answer = (await completion.generateCompletion(text, options)).trim();
    answers.set(key, answer);
    await appendFile(answersFile, `${JSON.stringify([key, answer])}\n`);
    return answer;
  };
  return {
    complete(text) {
      const key = createHash('sha256').update(text).digest('base64url');
      // One at a time: the context holds one sequence, and keeps the common beginning.
      const answer = last.then(() => generate(text, key));
      last = answer.catch(() => undefined);
      return answer;
    },
  };
}

async function readAnswers(file: string): Promise<Map<string, string>> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const lines = text.split('\n').filter((line) => line.endsWith(']'));
  return new Map(lines.map((line) => JSON.parse(line) as [string, string]));
}
