/** A language model in this process, run by node-llama-cpp. */
import { pathToFileURL } from 'node:url';
import type { ModelFiles } from './files.js';

type Token = number;

/** The part of node-llama-cpp that is used; the bench installs it on demand. */
interface LlamaModule {
  getLlama(options: object): Promise<{ loadModel(options: object): Promise<LlamaModel> }>;
}
interface LlamaModel {
  tokenize(text: string, specialTokens: boolean): Token[];
  detokenize(tokens: readonly Token[]): string;
  createContext(options: object): Promise<{ getSequence(): Sequence }>;
}
interface Sequence {
  readonly contextTokens: readonly Token[];
  adaptStateToTokens(tokens: Token[], allowShift: boolean): Promise<void>;
  evaluate(tokens: Token[], options: object): AsyncGenerator<Token, void>;
}

/** A text to continue; `temperature` 0: greedy. */
export interface Generation {
  text: string;
  temperature: number;
  seed: number;
  maxTokens: number;
}

export interface Generated {
  text: string;
  promptTokens: number;
  completionTokens: number;
  finishReason: 'stop' | 'length';
}

export interface LlamaOptions {
  /**
   * Contexts of one sequence each. Sequences of one context are evaluated in one batch, and their
   * answers differ from sequential ones.
   */
  contexts: number;
  threadsEach: number;
}

export interface Llama {
  generate(generation: Generation): Promise<Generated>;
  countTokens(text: string): number;
}

const contextTokens = 12_288;

export async function loadLlama(
  { entry, weights }: ModelFiles,
  { contexts, threadsEach }: LlamaOptions,
): Promise<Llama> {
  const { getLlama } = (await import(pathToFileURL(entry).href)) as LlamaModule;
  const llama = await getLlama({ gpu: false, logLevel: 'error', maxThreads: contexts * threadsEach });
  const model = await llama.loadModel({ modelPath: weights });
  const free: Sequence[] = [];
  for (let count = 0; count < contexts; count += 1) {
    const context = await model.createContext({ contextSize: contextTokens, sequences: 1, threads: threadsEach });
    free.push(context.getSequence());
  }
  const waiting: (() => void)[] = [];
  return {
    countTokens: (text) => model.tokenize(text, true).length,
    async generate(generation) {
      const tokens = model.tokenize(generation.text, true);
      while (free.length === 0) await new Promise<void>((resolve) => waiting.push(resolve));
      const sequence = takeBest(free, tokens);
      try {
        return await continued(model, sequence, tokens, generation);
      } finally {
        free.push(sequence);
        waiting.shift()?.();
      }
    },
  };
}

async function continued(
  model: LlamaModel,
  sequence: Sequence,
  tokens: Token[],
  { temperature, seed, maxTokens }: Generation,
): Promise<Generated> {
  if (tokens.length + maxTokens > contextTokens) {
    throw new RangeError(`The chat has ${tokens.length} tokens; with its answer at most ${contextTokens} fit.`);
  }
  // The last token is evaluated again: its result is the answer's first token.
  await sequence.adaptStateToTokens(tokens.slice(0, -1), false);
  const rest = tokens.slice(sequence.contextTokens.length);
  const answer: Token[] = [];
  // It ends at the token that ends a turn, without giving it.
  for await (const token of sequence.evaluate(rest, { temperature, seed, topK: 0, topP: 0.95, minP: 0 })) {
    answer.push(token);
    if (answer.length >= maxTokens) break;
  }
  const finishReason = answer.length < maxTokens ? 'stop' : 'length';
  const text = model.detokenize(answer);
  return { text, promptTokens: tokens.length, completionTokens: answer.length, finishReason };
}

/** Takes out the sequence that shares the longest beginning with the tokens. */
function takeBest(free: Sequence[], tokens: readonly Token[]): Sequence {
  const shared = free.map(({ contextTokens: held }) => {
    const different = tokens.findIndex((token, at) => held[at] !== token);
    return different < 0 ? tokens.length : different;
  });
  const [best] = free.splice(shared.indexOf(Math.max(...shared)), 1);
  return best!;
}
