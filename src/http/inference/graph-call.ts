import type { Providers } from '../../clients/models/providers.js';
import { asObject } from '../../clients/net/untrusted.js';
import { answerByGraph } from './graph-answer.js';
import type { ForwardedCall } from './call.js';
import { hashOf } from './request.js';
import type { Served } from './served-snapshots.js';

type ChatBody = Record<string, unknown> & { messages: unknown[] };

/** What a call's provider is called where a graph answers: the models of its steps have providers of their own. */
const graphProvider = 'graph';

/** A request that the frozen graph of this id answers; `load` gets it when the request is sent. */
export function graphCall(
  providers: Providers,
  id: string,
  { model: _ours, ...body }: ChatBody,
  load: () => Promise<Served>,
): Pick<ForwardedCall, 'provider' | 'upstream' | 'answeredBy'> {
  const stream = body['stream'] === true;
  const options = asObject(body['stream_options']);
  // Its usage is what the call is accounted by.
  const hideUsageChunk = stream && options?.['include_usage'] !== true;
  const asked = hideUsageChunk ? { ...body, stream_options: { ...options, include_usage: true } } : body;
  return {
    provider: graphProvider,
    upstream: {
      ...{ body: asked, model: id, stream, hideUsageChunk, spans: [], components: [] },
      hash: hashOf([graphProvider, id, asked]),
    },
    async answeredBy(signal) {
      const served = await load();
      if (served.kind !== 'graph') throw new Error(`the snapshot ${id} is no graph`);
      return answerByGraph(providers, { ...served, model: id }, asked, signal);
    },
  };
}
