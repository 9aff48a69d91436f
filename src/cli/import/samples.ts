/** Rows that are conversations: samples of openai/evals, and chats of files for fine-tuning. */
import { splitAnswer } from '../../core/prompts/chat-rows.js';
import type { Message } from '../../core/prompts/message.js';
import { ConfigError } from '../../service/config.js';
import type { ImportedPrompt, Report, Row } from './imported.js';
import { chatOf } from './messages.js';

export interface Conversations {
  rows: Row[];
  /** Shared instructions and the input. */
  prompt: ImportedPrompt;
}

const inputColumn = 'input';

/**
 * The messages with which all rows begin become the prompt; what is left of each is its column
 * `input`: a text if it is one message of the user, otherwise a conversation.
 */
export function splitSamples(rows: readonly Row[], report: Report): Conversations {
  return split(
    rows.map(({ value, place }) => {
      const { input } = value;
      if (typeof input === 'string') return { row: { value, place }, chat: [{ role: 'user', content: input }] };
      const chat = chatOf(input);
      if (chat) return { row: { value, place }, chat };
      throw new ConfigError(`${place} input must be a text or messages of texts`);
    }),
    report,
  );
}

/** Rows `{"messages": […]}`, which end with the right answer; `isAnswered`: all do. */
export function splitChats(rows: readonly Row[], report: Report): Conversations & { isAnswered: boolean } {
  const read = rows.map(({ value, place }) => {
    const chat = chatOf(value['messages']);
    if (!chat) throw new ConfigError(`${place} messages must be texts of system, user and assistant, without tools`);
    return { value, place, ...splitAnswer(chat) };
  });
  const isAnswered = read.every(({ answer }) => answer !== undefined);
  const unanswered = read.find(({ answer }) => answer === undefined);
  if (!isAnswered && read.some(({ answer }) => answer !== undefined))
    throw new ConfigError(`${unanswered!.place} messages do not end with an answer, as those of other rows do`);
  const conversations = split(
    read.map(({ value: { messages: _, ...others }, place, input, answer }) => ({
      row: { place, value: { ...others, ...(answer !== undefined && { expected: answer }) } },
      chat: input,
    })),
    report,
  );
  return { ...conversations, isAnswered };
}

function split(read: readonly { row: Row; chat: Message[] }[], report: Report): Conversations {
  const common = commonStart(read.map(({ chat }) => chat));
  const rows = read.map(({ row: { value, place }, chat }) => {
    const rest = chat.slice(common.length);
    const [only, ...others] = rest;
    const input = only?.role === 'user' && others.length === 0 ? only.content : rest;
    return { place, value: { ...value, [inputColumn]: input } };
  });
  if (common.length === 0)
    report.note('the rows share no instructions: write some into the prompt before a search, which rewrites them');
  const messages: Message[] = [...common, { role: 'user', content: `{{${inputColumn}}}` }];
  return { rows, prompt: { messages, model: null, policy: {}, version: null } };
}

/** The system messages with which all begin; something is left of each. */
function commonStart(chats: readonly Message[][]): Message[] {
  const [first = [], ...others] = chats;
  const most = Math.min(...chats.map((chat) => chat.length - 1));
  const end = first.findIndex(
    ({ role, content }, at) =>
      at >= most ||
      role !== 'system' ||
      others.some((chat) => chat[at]!.role !== role || chat[at]!.content !== content),
  );
  return first.slice(0, Math.max(end, 0));
}
