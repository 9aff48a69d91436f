import { RatchetError } from './errors.js';
import type { Answer } from './types.js';

/** The prompt of a deployment, as the service gives it. */
export type PromptData = Answer<'getDeploymentPrompt'>;
export type PromptMessage = PromptData['messages'][number];

/** A prompt for the case that the service cannot be reached and none is known. */
export type PromptFallback = Pick<PromptData, 'messages'> &
  Partial<Pick<PromptData, 'provider' | 'model'>> & {
    parameters?: Record<string, unknown>;
  };

/** Where a prompt comes from: the service, a file of an earlier process, or the fallback. */
export type PromptSource = 'service' | 'file' | 'fallback';

const braces = /\{\{([^{}]*)\}\}/g;
const plainName = /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_ -]*$/u;

/** A prompt for an application that calls the model itself. */
export class Prompt {
  readonly name: string;
  /** null: of the fallback. */
  readonly version: number | null;
  readonly deploymentId: string | null;
  readonly snapshotId: string | null;
  readonly labels: readonly string[];
  /** The placeholders to fill in. */
  readonly variables: readonly string[];
  readonly provider: string | null;
  readonly model: string | null;
  readonly source: PromptSource;
  private readonly data: Pick<PromptData, 'messages' | 'parameters' | 'demonstrations'>;

  constructor(name: string, data: PromptData | PromptFallback, source: PromptSource) {
    const known = 'version' in data ? data : null;
    this.name = known?.name ?? name;
    this.version = known?.version ?? null;
    this.deploymentId = known?.deployment_id ?? null;
    this.snapshotId = known?.snapshot_id ?? null;
    this.labels = known?.labels ?? [];
    this.variables = known?.variables ?? placeholders(data.messages);
    this.provider = data.provider ?? null;
    this.model = data.model ?? null;
    this.source = source;
    const { messages, parameters = {} } = data;
    this.data = structuredClone({ messages, parameters, demonstrations: known?.demonstrations ?? null });
  }

  /** The further fields of a request. */
  get parameters(): Record<string, unknown> {
    return structuredClone(this.data.parameters);
  }

  /** The messages with the placeholders filled in; those of the conversation follow them. */
  messages(variables: Record<string, string | number | boolean> = {}): PromptMessage[] {
    const missing = this.variables.filter((name) => !Object.hasOwn(variables, name));
    if (missing.length > 0)
      throw new RatchetError(`variables: ${missing.join(', ')} missing; ${this.name} has {{${missing[0]}}}.`, {
        code: 'missing_variable',
      });
    const { start, end } = this.data.demonstrations ?? { start: 0, end: 0 };
    return this.data.messages.map((message, index) => {
      if (index >= start && index < end) return { ...message };
      const fill = (text: string, inside: string) => {
        const name = inside.trim();
        return this.variables.includes(name) ? String(variables[name]) : text;
      };
      return { ...message, content: message.content.replace(braces, fill) };
    });
  }

  /** The body of a chat completion; `messages`: those of the conversation. */
  request<Message extends object>(
    variables: Record<string, string | number | boolean> = {},
    messages: readonly Message[] = [],
  ) {
    return { model: this.model, ...this.parameters, messages: [...this.messages(variables), ...messages] };
  }
}

function placeholders(messages: readonly PromptMessage[]): string[] {
  const names = messages.flatMap(({ content }) => [...content.matchAll(braces)].map(([, inside]) => inside!.trim()));
  return [...new Set(names)].filter((name) => plainName.test(name));
}
