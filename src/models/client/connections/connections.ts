import { Agent, type Dispatcher } from 'undici';
import { readProxySettings, type ProxySettings } from '../../../util/proxy.js';
import { tolerantConnector } from '../../../clients/net/interim.js';
import { metDeadConnection } from '../../../clients/net/kept-connection.js';
import { proxied } from '../../../clients/net/proxied.js';
import { ProviderError, type ModelAnswer } from '../answers/provider-answer.js';
import { askEndpoint, type Endpoint } from './provider-http.js';

/** Connections for answers of a bounded size. */
interface Agents {
  maxBytes: number;
  /** Keeps its connections for later requests. */
  kept: Dispatcher;
  fresh: Dispatcher;
}

const maxStreamBytes = 32 * 1024 * 1024;

/** The connections to providers. */
export class ProviderConnections {
  readonly #whole: Agents;
  readonly #streamed: Agents;
  readonly #onRetry: (provider: string) => void;

  constructor(env: Record<string, string | undefined>, maxAnswerBytes: number, onRetry: (provider: string) => void) {
    const { settings } = readProxySettings(env);
    this.#whole = agentsFor(maxAnswerBytes, settings);
    this.#streamed = agentsFor(maxStreamBytes, settings);
    this.#onRetry = onRetry;
  }

  /** Asks on a kept connection, and once more on a fresh one if the provider had closed it. */
  async ask(
    endpoint: Endpoint,
    asked: { json: string | null; stream: boolean },
    signal: AbortSignal,
  ): Promise<ModelAnswer> {
    const { kept, fresh, maxBytes } = asked.stream ? this.#streamed : this.#whole;
    const request = { ...asked, maxBytes };
    try {
      return await askEndpoint(endpoint, request, kept, signal);
    } catch (error) {
      if (!(error instanceof ProviderError) || !metDeadConnection(error.cause)) throw error;
      this.#onRetry(endpoint.name);
      return askEndpoint(endpoint, request, fresh, signal);
    }
  }

  async close(): Promise<void> {
    const agents = [this.#whole, this.#streamed].flatMap(({ kept, fresh }) => [kept, fresh]);
    await Promise.all(agents.map((agent) => agent.close()));
  }
}

function agentsFor(maxBytes: number, settings: ProxySettings): Agents {
  const agent = (keeping: { pipelining?: 0 }) => {
    const limits = { headersTimeout: 0, bodyTimeout: 0, maxResponseSize: maxBytes, ...keeping };
    return proxied(new Agent({ ...limits, connect: tolerantConnector() }), { settings, limits });
  };
  return { maxBytes, kept: agent({}), fresh: agent({ pipelining: 0 }) };
}
