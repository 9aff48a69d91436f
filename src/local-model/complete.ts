/**
 * The `local` provider: a deterministic language model for the demo and the tests, without network,
 * key or clock. It knows common English words and no data set; see docs/adr/0004-local-provider.md.
 */
import { createHash } from 'node:crypto';
import type { Question } from '../core/question.js';
import { judgeLocally } from './judgement.js';
import { propose } from './propose.js';
import { restructure } from './restructure.js';
import { answerTask } from './task.js';
import { countTokens, firstTokens } from './words.js';

/** The fields of an OpenAI chat completion request that are read; others are ignored. */
export interface ChatRequest {
  model?: unknown;
  messages?: unknown;
  max_tokens?: unknown;
  max_completion_tokens?: unknown;
  [field: string]: unknown;
}

/** An OpenAI chat completion. `created` is 0: the provider has no clock. */
export interface ChatCompletion {
  id: string;
  object: 'chat.completion';
  created: number;
  model: string;
  choices: [
    { index: 0; message: { role: 'assistant'; content: string }; logprobs: null; finish_reason: 'stop' | 'length' },
  ];
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
}

const tokensPerMessage = 3;

/** An invalid request; `param` names the field. */
export class LocalRequestError extends Error {
  readonly param: string;
  constructor(param: string, message: string) {
    super(message);
    this.name = 'LocalRequestError';
    this.param = param;
  }
}

/**
 * Answers a chat completion request, from `question` if it is one of the service; throws
 * LocalRequestError for invalid `messages`.
 */
export function completeLocally(request: ChatRequest, question: Question | null = null): ChatCompletion {
  const messages = readMessages(request.messages);
  const user = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  const system = messages
    .filter(({ role }) => role === 'system' || role === 'developer')
    .map(({ content }) => content)
    .join('\n\n');
  const full = answerOf(question, system, user);
  const content = firstTokens(full, tokenLimit(request));
  const prompt = messages.reduce((sum, message) => sum + tokensPerMessage + countTokens(message.content), 0);
  const completion = countTokens(content);
  return {
    id: `chatcmpl-local-${createHash('sha256').update(JSON.stringify(request)).digest('hex').slice(0, 24)}`,
    object: 'chat.completion',
    created: 0,
    model: typeof request.model === 'string' ? request.model : 'local',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content },
        logprobs: null,
        finish_reason: content === full ? 'stop' : 'length',
      },
    ],
    usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
  };
}

/** The answer to a question of the service; others are tasks for the task model. */
function answerOf(question: Question | null, system: string, user: string): string {
  switch (question?.kind) {
    case 'text':
      return `\`\`\`\n${propose(question.reflection)}\n\`\`\``;
    case 'edits':
      return `\`\`\`json\n${JSON.stringify(restructure(question.graph, question.proposal.failures))}\n\`\`\``;
    case 'judgement':
      return judgeLocally(question.request);
    default:
      return answerTask(system, user);
  }
}

function tokenLimit(request: ChatRequest): number {
  const limit = request.max_completion_tokens ?? request.max_tokens;
  return typeof limit === 'number' && limit >= 0 ? limit : Infinity;
}

function readMessages(messages: unknown): { role: string; content: string }[] {
  if (!Array.isArray(messages) || messages.length === 0) {
    throw new LocalRequestError('messages', '`messages` must be a non-empty list');
  }
  return messages.map((message: unknown, at) => {
    if (typeof message !== 'object' || message === null || typeof (message as { role?: unknown }).role !== 'string') {
      throw new LocalRequestError(`messages[${at}].role`, `\`messages[${at}]\` must be an object with a \`role\``);
    }
    const { role, content } = message as { role: string; content?: unknown };
    return { role, content: joinTextParts(content) };
  });
}

/** Content is a text or a list of parts, of which only texts count. */
function joinTextParts(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part: unknown) => (part as { text?: unknown } | null)?.text)
    .filter((text) => typeof text === 'string')
    .join('\n');
}
