/** A language model in this process, run by node-llama-cpp. */
import { pathToFileURL } from 'node:url';
import type { ModelFiles } from './files.js';
import { keepStates, type KeptStates, type Piece, type Reader } from './kept-states.js';

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
interface Sequence extends Reader {
  evaluate(tokens: Token[], options: object): AsyncGenerator<Token, void>;
}

/** A text to continue; `temperature` 0: greedy. */
export interface Generation {
  before: readonly string[];
  rest: string;
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
   * answers differ from sequential ones. One that evaluates alone has the threads of all.
   */
  contexts: number;
  /** Folder of what the model has read. */
  states: string;
}

export interface Llama {
  generate(generation: Generation): Promise<Generated>;
  countTokens(text: Pick<Generation, 'before' | 'rest'>): number;
}

const contextTokens = 12_288;
/** Tokens of kept states: 29 kB each with the 1.5B, 7.3 GB in all. */
const tokensKept = 250_000;

export async function loadLlama(
  { entry, weights }: ModelFiles,
  { contexts, states: folder }: LlamaOptions,
): Promise<Llama> {
  const { getLlama } = (await import(pathToFileURL(entry).href)) as LlamaModule;
  const llama = await getLlama({ gpu: false, logLevel: 'error', maxThreads: contexts });
  const model = await llama.loadModel({ modelPath: weights });
  const free: Sequence[] = [];
  for (let count = 0; count < contexts; count += 1) {
    const context = await model.createContext({
      contextSize: contextTokens,
      sequences: 1,
      threads: { ideal: contexts, min: 1 },
    });
    free.push(context.getSequence());
  }
  const waiting: (() => void)[] = [];
  const states = await keepStates(folder, tokensKept);
  return {
    countTokens: ({ before, rest }) => model.tokenize([...before, rest].join(''), true).length,
    async generate(generation) {
      const pieces = generation.before.map((text) => ({ text, tokens: model.tokenize(text, true) }));
      while (true) {
        const elsewhere = states.readElsewhere(pieces);
        if (elsewhere !== null) await elsewhere;
        else if (free.length === 0) await new Promise<void>((resolve) => waiting.push(resolve));
        else break;
      }
      const sequence = free.shift()!;
      try {
        return await continued(model, sequence, states, pieces, generation);
      } finally {
        free.push(sequence);
        for (const retry of waiting.splice(0)) retry();
      }
    },
  };
}

/**
 * The sizes of the pieces that are read change the numbers, and so some answers. So every chat is
 * read in the same ones: those before its last message, the rest, and the token that the answer
 * begins after.
 */
async function continued(
  model: LlamaModel,
  sequence: Sequence,
  states: KeptStates,
  pieces: readonly Piece[],
  { rest, temperature, seed, maxTokens }: Generation,
): Promise<Generated> {
  const last = model.tokenize(rest, true);
  const promptTokens = pieces.reduce((sum, { tokens }) => sum + tokens.length, last.length);
  if (promptTokens + maxTokens > contextTokens) {
    throw new RangeError(`The chat has ${promptTokens} tokens; with its answer at most ${contextTokens} fit.`);
  }
  await states.read(sequence, pieces);
  await sequence.evaluateWithoutGeneratingNewTokens(last.slice(0, -1));
  const options = { temperature, seed, topK: 0, topP: 0.95, minP: 0 };
  const answer: Token[] = [];
  // It ends at the token that ends a turn, without giving it.
  for await (const token of sequence.evaluate(last.slice(-1), options)) {
    answer.push(token);
    if (answer.length >= maxTokens) break;
  }
  const finishReason = answer.length < maxTokens ? 'stop' : 'length';
  const text = model.detokenize(answer);
  return { text, promptTokens, completionTokens: answer.length, finishReason };
}
