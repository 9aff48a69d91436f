import { isGrpcServiceError, type Client, type Connection } from '@temporalio/client';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { startRepeating } from '../../util/repeating.js';
import {
  algorithmAttribute,
  bestRewardAttribute,
  nameAttribute,
  orgAttribute,
  rolloutsAttribute,
  statusAttribute,
  stopReasonAttribute,
  tagsAttribute,
} from '../../../workflows/messages.js';

/** The types' numbers in Temporal's API (IndexedValueType) and names in its command line. */
const types = {
  KEYWORD: { code: 2, name: 'Keyword' },
  INT: { code: 3, name: 'Int' },
  DOUBLE: { code: 4, name: 'Double' },
  KEYWORD_LIST: { code: 7, name: 'KeywordList' },
};
/** gRPC code INVALID_ARGUMENT: a query names an attribute that the namespace has not. */
const invalidArgument = 3;
/** Registrations that Temporal's visibility store has not seen yet. */
const pollMs = 200;
const visibleMs = 5_000;
/** Time limit of a look, with a registration. */
const lookMs = 8_000;

const labels = [nameAttribute, tagsAttribute];
const keywords = [orgAttribute, algorithmAttribute, statusAttribute, stopReasonAttribute, ...labels];
const attributes = [...keywords, bestRewardAttribute, rolloutsAttribute];

type Attribute = (typeof attributes)[number];

/** The namespace lacks search attributes; the message is one line with the commands. */
export class SearchAttributesError extends Error {
  override readonly name = 'SearchAttributesError';
}

/**
 * Registers the search attributes that workflows set, or rejects with the operator's commands. It
 * asks by queries: Temporal Cloud lets nobody list attributes by the operator service.
 */
export async function registerSearchAttributes(client: Client): Promise<void> {
  const absent = await missingAttributes(client);
  if (absent.length === 0) return;
  const { namespace } = client.options;
  const { operatorService } = client.connection as Connection;
  try {
    await operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(absent.map(({ name, type }) => [name, types[type].code])),
    });
  } catch (cause) {
    // Another process may have registered them.
    const still = await missingAttributes(client);
    if (still.length > 0) throw await lackOf(client, still, cause as Error);
  }
  const deadline = performance.now() + visibleMs;
  for (;;) {
    const still = await missingAttributes(client);
    if (still.length === 0) return;
    if (performance.now() >= deadline) throw unseen(client, still);
    await delay(pollMs);
  }
}

/** The attributes that the namespace lacks. */
export async function missingAttributes(client: Client): Promise<Attribute[]> {
  if (await areKnown(client, attributes)) return [];
  const known = await Promise.all(attributes.map((attribute) => areKnown(client, [attribute])));
  return attributes.filter((_, i) => !known[i]);
}

async function areKnown(client: Client, asked: readonly Attribute[]): Promise<boolean> {
  const { namespace } = client.options;
  const query = asked.map(({ name }) => `${name} is null`).join(' and ');
  try {
    await client.workflowService.countWorkflowExecutions({ namespace, query });
    return true;
  } catch (error) {
    if (isGrpcServiceError(error) && Number(error.code) === invalidArgument) return false;
    throw error;
  }
}

/** The error that names what is missing, why Temporal did not add it, and who can. */
async function lackOf(client: Client, absent: readonly Attribute[], cause: Error): Promise<SearchAttributesError> {
  const { namespace } = client.options;
  const names = absent.map(({ name }) => name).join(', ');
  const reason = isGrpcServiceError(cause) ? cause.details : cause.message;
  const lack = `Temporal namespace "${namespace}" lacks search attributes (${names}), and Temporal refused to register them (${reason.replace(/\.$/, '')}).`;
  if (/cannot have more than/.test(reason)) {
    const others = await keywordsOfOthers(client);
    const use = others.length > 0 ? `others use ${others.join(', ')}` : 'others use the rest';
    return new SearchAttributesError(
      `${lack} The namespace has no room for them: ${use}. Remove some, or set TEMPORAL_NAMESPACE to a namespace of Ratchet's own.`,
      { cause },
    );
  }
  return new SearchAttributesError(
    `${lack} Run: ${operatorCommand(namespace, absent)}; on Temporal Cloud add them in its UI, or run: ${cloudCommand(namespace, absent)}`,
    { cause },
  );
}

/** Temporal took a registration that its visibility store does not know yet. */
function unseen(client: Client, absent: readonly Attribute[]): SearchAttributesError {
  const names = absent.map(({ name }) => name).join(', ');
  return new SearchAttributesError(
    `Temporal namespace "${client.options.namespace}" does not know the search attributes yet that were registered in it (${names}). Try again in a minute.`,
  );
}

const operatorCommand = (namespace: string, absent: readonly Attribute[]) =>
  `temporal operator search-attribute create --namespace ${namespace} ${absent.map(({ name, type }) => `--name ${name} --type ${types[type].name}`).join(' ')}`;

const cloudCommand = (namespace: string, absent: readonly Attribute[]) =>
  `tcld namespace search-attributes add --namespace ${namespace} ${absent.map(({ name, type }) => `--sa "${name}=${types[type].name}"`).join(' ')}`;

/** Keyword attributes of other applications; none where Temporal does not list them. */
async function keywordsOfOthers(client: Client): Promise<string[]> {
  const { operatorService } = client.connection as Connection;
  const { namespace } = client.options;
  const own = new Set<string>(attributes.map(({ name }) => name));
  const listed = await operatorService.listSearchAttributes({ namespace }).catch((error: unknown) => {
    if (isGrpcServiceError(error)) return null;
    throw error;
  });
  return Object.entries(listed?.customAttributes ?? {}).flatMap(([name, type]) =>
    Number(type) === types.KEYWORD.code && !own.has(name) ? [name] : [],
  );
}

/** What an API knows of the attributes of its namespace. */
interface AttributeWatch {
  /** Why a workflow cannot start now; null: it can, or Temporal does not say. */
  problem(): string | null;
  /** The same after the first look, which it waits for. */
  current(): Promise<string | null>;
  stop(): Promise<void>;
}

/** Registers the attributes, looks again while some are missing, and once a minute. */
export function watchSearchAttributes(client: Client, log: Logger, everyMs = 5_000): AttributeWatch {
  let problem: string | null = null;
  let isAway = false;
  let nextAt = 0;
  const look = async () => {
    if (performance.now() < nextAt) return;
    try {
      await client.withDeadline(Date.now() + lookMs, () => registerSearchAttributes(client));
      problem = null;
      isAway = false;
      nextAt = performance.now() + 60_000;
    } catch (error) {
      if (!(error instanceof SearchAttributesError)) throw error;
      if (problem === null) log.error(error.message);
      problem = error.message;
    }
  };
  const { run, stop } = startRepeating(look, everyMs, (err) => {
    // Readiness reports that Temporal is away.
    if (!isAway) log.warn({ err }, 'search attributes not checked; retrying');
    isAway = true;
  });
  const looked = run();
  return {
    problem: () => problem,
    current: () => looked.then(() => problem),
    stop,
  };
}
