import { Dispatcher, Pool, ProxyAgent, type Agent, type buildConnector } from 'undici';
import { tolerant } from './interim.js';
import { proxyFor, type ProxySettings } from '../../util/proxy.js';

interface Proxying {
  settings: ProxySettings;
  /** Limits of the connections to proxies. */
  limits: Agent.Options;
  /** Called before a request goes to a proxy; throws to refuse the origin. */
  check?(origin: string): void;
}

/** Sends each request by `direct` or by the proxy of its URL; closes `direct` with itself. */
export function proxied(direct: Dispatcher, how: Proxying): Dispatcher {
  const { http, https } = how.settings;
  return http === null && https === null ? direct : new Proxied(direct, how);
}

class Proxied extends Dispatcher {
  private readonly agents = new Map<string, ProxyAgent>();
  private readonly direct: Dispatcher;
  private readonly how: Proxying;

  constructor(direct: Dispatcher, how: Proxying) {
    super();
    this.direct = direct;
    this.how = how;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const origin = String(options.origin);
    const proxy = proxyFor(this.how.settings, origin);
    if (proxy === null) return this.direct.dispatch(options, handler);
    this.how.check?.(origin);
    return this.agentOf(proxy).dispatch(options, handler);
  }

  private agentOf(proxy: string): ProxyAgent {
    const known = this.agents.get(proxy);
    if (known) return known;
    const { limits } = this.how;
    const agent = new ProxyAgent({
      ...limits,
      uri: proxy,
      // Proxies of companies allow CONNECT for https only.
      proxyTunnel: false,
      factory: (origin, options) => {
        const { connect } = options as { connect: buildConnector.connector };
        return new Pool(origin, { ...(options as Pool.Options), ...limits, connect: tolerant(connect) });
      },
    });
    this.agents.set(proxy, agent);
    return agent;
  }

  override async close(): Promise<void> {
    await Promise.all([this.direct, ...this.agents.values()].map((agent) => agent.close()));
  }

  override async destroy(): Promise<void> {
    await Promise.all([this.direct, ...this.agents.values()].map((agent) => agent.destroy()));
  }
}
