import type { PromptContent } from '../../kinds/deployment/contract/snapshot.js';
import { asObject } from '../../util/json.js';
import { componentNames, componentTexts } from '../../core/prompts/components.js';
import { demosForCall, renderPrompt, type Demo } from '../../core/prompts/demos.js';
import type { PolicySpec } from '../../core/jobs/policy.js';
import type { Message } from '../../core/prompts/message.js';
import { ApiError } from '../../platform/http/server/errors.js';
import type { FastifyRequest } from 'fastify';
import type { FormName } from '../../platform/http/error-forms.js';
import type { AnswerForm, FormRequest } from './forms/form.js';
import { readMessage } from './forms/messages/request.js';
import { readResponse } from './forms/responses/request.js';
import { insertDemos } from './demos.js';
import { fillLevers } from './levers.js';
import { UpstreamRequest } from './upstream-request.js';

type Json = Record<string, unknown>;

/** The part of a candidate that a call uses. */
export interface CandidatePrompt {
  /** null: there is no candidate, or the baseline's prompt is not known yet. */
  messages: Message[] | null;
  /** Its components are spans that the container marks; unmarked text stays. */
  marked: boolean;
  /** Demonstrations shown before the question. */
  demos: readonly Demo[];
}

/** Fields by which a caller could turn our request, with our key, to another server. */
const forbidden = ['api_key', 'api_base', 'base_url', 'extra_headers'];
/** Fields that only the call may set, never the policy. */
const callsOwn = new Set(['messages', 'model', 'provider', 'stream', 'stream_options']);
/** Two names of one limit, which OpenAI refuses together. */
const limits = ['max_tokens', 'max_completion_tokens'];

/** A chat completion request. */
export type ChatBody = Json & { messages: unknown[] };

/** The body of a call as a chat completion request, and the form of its answer. */
export function readCall({ body, routeOptions }: FastifyRequest): { body: ChatBody; form: AnswerForm | null } {
  const { form: name } = routeOptions.config;
  const json = asObject(body);
  if (!json) throw invalid('', `The body must be a JSON object: a ${requests[name ?? 'chat']} request.`);
  if (name === undefined) return { body: readChatBody(json), form: null };
  const { chat, form } = readers[name](json);
  return { body: readChatBody(chat), form };
}

const readers: Record<FormName, (body: Json) => FormRequest> = { responses: readResponse, messages: readMessage };
const requests = { chat: 'chat completion', responses: 'response', messages: 'message' };

/** Checks the body of a call; the provider judges all other fields. */
function readChatBody(json: Json): ChatBody {
  for (const name of forbidden) {
    if (Object.hasOwn(json, name)) {
      throw invalid(name, `${name} is not allowed: the policy says which provider answers, and with which key.`);
    }
  }
  const { messages } = json;
  if (!Array.isArray(messages)) throw invalid('messages', 'messages must be an array of chat messages.');
  const { model = null, stream = null } = json;
  if (model !== null && typeof model !== 'string') throw invalid('model', 'model must be a string.');
  if (stream !== null && typeof stream !== 'boolean') throw invalid('stream', 'stream must be a boolean.');
  return { ...json, messages };
}

/** The model that a request names. */
export function requestedModel({ model }: ChatBody): string {
  if (typeof model === 'string' && model !== '') return model;
  throw invalid('model', 'model must name a deployment; GET /v1/models lists those that answer.');
}

/**
 * The upstream request: the candidate's texts in marked spans, its system message in place of the
 * caller's or first, its demonstrations, the policy's model and parameters as defaults. Other
 * fields are unchanged.
 */
export function substitute(body: ChatBody, policy: PolicySpec, served: CandidatePrompt): UpstreamRequest {
  const texts = new Map(Object.entries(componentTexts(served.messages)));
  const { request, spans, found } = fillLevers({ ...defaults(body, policy.params), ...body }, texts);
  const system = wholeSystem(served, found);
  const model = typeof body['model'] === 'string' && body['model'] !== '' ? body['model'] : policy.model;
  const instructed = system === null ? request.messages : withSystem(request.messages, system);
  const messages = insertDemos(instructed, demosForCall(served.demos, served.messages, found));
  const upstream: Json = { ...request, model, messages };
  const stream = body['stream'] === true;
  const options = asObject(body['stream_options']);
  const hideUsageChunk = stream && options?.['include_usage'] !== true;
  const components = componentNames(served.messages ?? []).filter((name) => found.has(name));
  const { provider } = policy;
  const callers = new Set(Object.keys(body));
  return new UpstreamRequest({ provider, body: upstream, model, stream, callers, hideUsageChunk, spans, components });
}

/**
 * The upstream request of a snapshot's prompt: as for a candidate, but with the snapshot's model,
 * and with a prompt of several messages at the head, in place of the first system message.
 */
export function frozenRequest(
  { model: _ours, ...body }: ChatBody,
  { messages, demos, levers_marked: marked }: PromptContent,
  policy: PolicySpec,
): UpstreamRequest {
  const asCandidate = substitute(body, policy, { messages, marked, demos });
  const isWhole = messages.length === 1 && messages[0]!.role === 'system';
  if (isWhole || marked || asCandidate.components.length > 0) return asCandidate;
  const head = renderPrompt(messages, demos).map(({ role, content }) => ({ role, content }));
  const replaced = head.some(({ role }) => role === 'system') ? body.messages.findIndex(isInstruction) : -1;
  const rest = body.messages.filter((_, index) => index !== replaced);
  return substitute({ ...body, messages: [...head, ...rest] }, policy, { messages: null, marked: false, demos: [] });
}

/** The text that replaces the system message; null with several components or marked spans. */
function wholeSystem({ messages, marked }: CandidatePrompt, found: ReadonlySet<string>): string | null {
  if (!messages || marked) return null;
  const names = componentNames(messages);
  const systems = messages.flatMap(({ role, content }, index) => (role === 'system' ? [{ index, content }] : []));
  const [only] = systems;
  return only && systems.length === 1 && !found.has(names[only.index]!) ? only.content : null;
}

function defaults(body: Json, params: Json): Json {
  const limited = limits.some((name) => Object.hasOwn(body, name));
  const wanted = Object.entries(params).filter(([name]) => !callsOwn.has(name) && !(limited && limits.includes(name)));
  return Object.fromEntries(wanted);
}

function withSystem(messages: unknown[], content: string): unknown[] {
  const at = messages.findIndex(isInstruction);
  if (at === -1) return [{ role: 'system', content }, ...messages];
  // Keep the role and other fields: some models accept only developer messages.
  return messages.with(at, { ...asObject(messages[at]), content });
}

const isInstruction = (message: unknown): boolean =>
  ['system', 'developer'].includes(String(asObject(message)?.['role']));

function invalid(name: string, message: string): ApiError {
  return new ApiError(400, 'invalid_request', message, {
    errors: [{ pointer: name === '' ? '' : `/${name}`, message }],
  });
}
