/** Parses and validates the request body of POST /rollout. */
import type { IncomingMessage } from 'node:http';
import type { ModelAccess } from './model.js';

/** A requested rollout. `systemPrompt` null: none; `prompts` has all sections by name. */
export interface Rollout extends ModelAccess {
  correlationId: string;
  rolloutId: string;
  seed: number;
  env: { name: string | null; config: Record<string, unknown> };
  systemPrompt: string | null;
  prompts: Record<string, string>;
  maxTimeS: number;
}

/** An invalid request: its status and a message that names the field. */
export class BadRequest extends Error {
  readonly status: 400 | 413 | 415 | 422;
  constructor(status: 400 | 413 | 415 | 422, message: string) {
    super(message);
    this.name = 'BadRequest';
    this.status = status;
  }
}

const maxBodyBytes = 10 * 1024 * 1024;
const longestS = 24 * 60 * 60;

/**
 * The body as JSON; throws BadRequest if it is larger than 10 MiB or not JSON. Other content types
 * are refused: web pages of any origin may send them.
 */
export async function readJsonBody(request: IncomingMessage): Promise<unknown> {
  const mediaType = request.headers['content-type']?.split(';', 1)[0]!.trim().toLowerCase();
  if (mediaType !== 'application/json') throw new BadRequest(415, 'Content-Type must be application/json');
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > maxBodyBytes) throw new BadRequest(413, 'the body is larger than 10 MiB');
    chunks.push(chunk as Buffer);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString()) as unknown;
  } catch (error) {
    throw new BadRequest(400, `the body is not JSON: ${(error as Error).message}`);
  }
}

/**
 * Validates the body of POST /rollout; throws BadRequest (422) with the field's name. Ignores
 * unknown fields.
 */
export function readRollout(body: unknown): Rollout {
  const root = objectAt(body, 'the body');
  const env = objectAt(root['env'], 'env');
  const config = objectAt(objectAt(root['policy'], 'policy')['config'], 'policy.config');
  const { inference_url, inference_api_key, prompt_template, provider: _, ...modelParams } = config;
  const rolloutId = textAt(root['rollout_id'] ?? root['trace_correlation_id'], 'rollout_id');
  if (!Number.isSafeInteger(env['seed'])) throw new BadRequest(422, 'env.seed must be an integer');
  const inferenceUrl = textAt(inference_url, 'policy.config.inference_url');
  if (!/^https?:\/\//.test(inferenceUrl) || !URL.canParse(inferenceUrl)) {
    throw new BadRequest(422, 'policy.config.inference_url must be an http or https URL');
  }
  const maxTimeS = root['safety'] === undefined ? undefined : objectAt(root['safety'], 'safety')['max_time_s'];
  if (maxTimeS !== undefined && !(typeof maxTimeS === 'number' && maxTimeS > 0)) {
    throw new BadRequest(422, 'safety.max_time_s must be a number of seconds above 0');
  }
  return {
    correlationId: textAt(root['trace_correlation_id'] ?? rolloutId, 'trace_correlation_id'),
    rolloutId,
    seed: env['seed'] as number,
    env: {
      name: typeof env['env_name'] === 'string' ? env['env_name'] : null,
      config: env['config'] === undefined || env['config'] === null ? {} : objectAt(env['config'], 'env.config'),
    },
    inferenceUrl,
    inferenceApiKey: typeof inference_api_key === 'string' ? inference_api_key : null,
    modelParams,
    ...sectionPrompts(prompt_template),
    maxTimeS: Math.min(maxTimeS ?? longestS, longestS),
  };
}

function sectionPrompts(template: unknown): Pick<Rollout, 'systemPrompt' | 'prompts'> {
  if (template === undefined || template === null) return { systemPrompt: null, prompts: {} };
  const { sections } = objectAt(template, 'policy.config.prompt_template');
  if (!Array.isArray(sections)) throw new BadRequest(422, 'policy.config.prompt_template.sections must be a list');
  const inOrder = sections
    .map((section: unknown, at) => objectAt(section, `policy.config.prompt_template.sections[${at}]`))
    .sort((a, b) => Number(a['order'] ?? 0) - Number(b['order'] ?? 0))
    // Demonstrations are no prompts, and the service puts them into the calls itself.
    .filter(({ demo }) => demo !== true)
    .map(({ role, name, content }) => ({ role: String(role), name, content: sectionText(content) }));
  const counts = new Map<string, number>();
  const prompts = inOrder.map(({ role, name, content }) => {
    if (typeof name === 'string') return [name, content];
    const count = (counts.get(role) ?? 0) + 1;
    counts.set(role, count);
    return [count === 1 ? role : `${role}_${count}`, content];
  });
  const texts = inOrder.filter(({ role }) => role === 'system').map(({ content }) => content);
  return {
    systemPrompt: texts.length > 0 ? texts.join('\n\n') : null,
    prompts: Object.fromEntries(prompts) as Record<string, string>,
  };
}

/** A section's text, possibly empty. */
function sectionText(content: unknown): string {
  if (typeof content === 'string') return content;
  throw new BadRequest(422, 'the content of a section of policy.config.prompt_template must be a text');
}

function objectAt(value: unknown, name: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new BadRequest(422, `${name} must be an object`);
}

function textAt(value: unknown, name: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new BadRequest(422, `${name} must be a non-empty text`);
}
