import type { ModelClient } from '../client/providers.js';
import { asObject } from '../../util/json.js';
import { answerByGraph } from './graph-answer.js';
import type { ForwardedCall } from './call.js';
import type { PreparedSnapshot } from './served-snapshots.js';
import { UpstreamRequest } from './upstream-request.js';

type ChatBody = Record<string, unknown> & { messages: unknown[] };

/** Provider name of calls answered by a graph; its steps have their own providers. */
const graphProvider = 'graph';

/** A call answered by the graph of a snapshot; `load` reads the graph when the call is sent. */
export function graphCall(
  providers: ModelClient,
  id: string,
  { model: _ours, ...body }: ChatBody,
  load: () => Promise<PreparedSnapshot>,
): Pick<ForwardedCall, 'provider' | 'upstream' | 'answeredBy'> {
  const stream = body['stream'] === true;
  const options = asObject(body['stream_options']);
  // Its usage accounts for the call.
  const hideUsageChunk = stream && options?.['include_usage'] !== true;
  const asked = hideUsageChunk ? { ...body, stream_options: { ...options, include_usage: true } } : body;
  return {
    provider: graphProvider,
    upstream: new UpstreamRequest({
      provider: graphProvider,
      body: asked,
      model: id,
      stream,
      hideUsageChunk,
      spans: [],
      components: [],
      callers: new Set(),
      hashed: { ...asked, model: id },
    }),
    async answeredBy(signal) {
      const served = await load();
      if (served.kind !== 'graph') throw new Error(`snapshot ${id} is not a graph`);
      return answerByGraph(providers, { ...served, model: id }, asked, signal);
    },
  };
}
