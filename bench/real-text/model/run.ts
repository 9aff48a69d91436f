/** A contestant's run: its calls are counted, and its proposer's chats are kept on request. */
import { createHash } from 'node:crypto';
import { appendFile } from 'node:fs/promises';
import { createContainer } from '../../../src/container/index.js';
import type { ChatMessage } from '../../worlds/task-texts.js';
import type { Split, TextRow } from '../splits.js';
import type { TextTask } from '../tasks.js';
import type { Answers } from './answers.js';
import { layOut, pieceLength } from './chat-layout.js';
import type { Usage, Used } from './client.js';
import type { Generated, Llama } from './llama.js';

interface RunSetup {
  llama: Llama;
  answers: Answers;
  size: string;
  task: TextTask;
  split: Split;
  /** The number of the split. */
  number: number;
  transcript: string | null;
}

interface ChatBody {
  model?: string;
  messages?: ChatMessage[];
  temperature?: number | null;
  max_tokens?: number | null;
}

export type Run = Awaited<ReturnType<typeof createRun>>;

const proposerDefaults = { temperature: 0.8, maxTokens: 1_024 } as const;
const unused: Used = { calls: 0, promptTokens: 0, completionTokens: 0 };

export async function createRun({ llama, answers, size, task, split, number, transcript }: RunSetup) {
  const usage: Usage = { policy: { ...unused }, proposer: { ...unused } };
  const asked = new Map<string, number>();
  const container = await createContainer<TextRow>({
    name: task.name,
    // A search can ask for no row beyond these.
    tasks: split.rows.slice(0, split.heldoutSeeds[0]),
    initialPrompt: task.instruction,
    async rollout(row, ask, { prompt }) {
      const answer = await ask([
        { role: 'system', content: prompt },
        { role: 'user', content: row.input },
      ]);
      return task.score(row, answer);
    },
  }).listen(0);

  function generated(
    messages: readonly ChatMessage[],
    options: { temperature: number; seed: number; maxTokens: number },
  ) {
    return answers.of([size, pieceLength, messages, options], () =>
      llama.generate({ ...layOut(messages), ...options }),
    );
  }
  function answered(messages: readonly ChatMessage[]): Promise<Generated> {
    return generated(messages, { temperature: 0, seed: 0, maxTokens: task.maxTokens });
  }
  async function called(messages: readonly ChatMessage[]): Promise<Generated> {
    return counted(usage.policy, await answered(messages));
  }
  async function proposed(messages: readonly ChatMessage[], body: ChatBody): Promise<Generated> {
    const question = JSON.stringify(messages);
    const before = asked.get(question) ?? 0;
    asked.set(question, before + 1);
    // The same question gets the same answers in the same order.
    const seed = createHash('sha256').update(`${number} ${before} ${question}`).digest().readUInt32BE();
    const temperature = body.temperature ?? proposerDefaults.temperature;
    const maxTokens = Math.min(body.max_tokens ?? proposerDefaults.maxTokens, proposerDefaults.maxTokens);
    const answer = counted(usage.proposer, await generated(messages, { temperature, seed, maxTokens }));
    const kept = { messages, temperature, seed, answer: answer.text, finishReason: answer.finishReason };
    if (transcript !== null) await appendFile(transcript, `${JSON.stringify(kept)}\n`);
    return answer;
  }

  return {
    usage,
    containerUrl: container.url,
    inputs: () => {
      const seeds = [...split.trainSeeds, ...split.evaluationSeeds];
      return seeds.map((seed) => ({ seed, ...split.rows[seed]! }));
    },
    score: (seed: number, answer: string) => task.score(split.rows[seed]!, answer),
    async ask(seed: number, before: readonly ChatMessage[]) {
      const row = split.rows[seed]!;
      return task.score(row, (await called([...before, { role: 'user', content: row.input }])).text);
    },
    async heldout(before: readonly ChatMessage[]) {
      const rewards = await Promise.all(
        split.heldoutSeeds.map(async (seed) => {
          const row = split.rows[seed]!;
          const { text } = await answered([...before, { role: 'user', content: row.input }]);
          return task.score(row, text).reward;
        }),
      );
      const right = rewards.reduce((sum, reward) => sum + reward, 0);
      return { right, of: rewards.length, promptTokens: llama.countTokens(layOut(before)) };
    },
    async complete(role: 'policy' | 'proposer', body: ChatBody) {
      const messages = (body.messages ?? []).map(plainMessage);
      const answer = role === 'policy' ? await called(messages) : await proposed(messages, body);
      return completionOf(body.model ?? '', usage[role].calls, answer);
    },
  };
}

function counted(used: Used, answer: Generated): Generated {
  used.calls += 1;
  used.promptTokens += answer.promptTokens;
  used.completionTokens += answer.completionTokens;
  return answer;
}

/** A message with its text alone: content may be a list of parts. */
function plainMessage({ role, content }: { role: string; content: unknown }): ChatMessage {
  const parts = Array.isArray(content) ? (content as { text?: string }[]).map(({ text = '' }) => text) : [content];
  return { role, content: parts.join('') };
}

function completionOf(model: string, count: number, answer: Generated) {
  const { text: content, finishReason, promptTokens, completionTokens } = answer;
  return {
    id: `chatcmpl-${count}`,
    object: 'chat.completion',
    created: 0,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: finishReason }],
    usage: {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: promptTokens + completionTokens,
    },
  };
}
