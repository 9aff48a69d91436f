import type { Payload } from '@temporalio/common';
import { z } from 'zod';
import { operatorOrg } from '../../../access/store/orgs.js';
import type { App, CodecServer } from '../deps.js';
import { ApiError, refuse } from './errors.js';
import { bodyProblems } from './schema.js';

const base = '/codec';
/** An event of Temporal has at most 4 MiB, and a third more in base64. */
const bodyLimit = 8 * 1024 * 1024;
const maxPayloads = 1_000;

const bytes = z.string().meta({ format: 'byte' });
const payloadSchema = z.object({ metadata: z.record(z.string(), bytes).optional(), data: bytes.optional() });
const payloadsSchema = z.object({ payloads: z.array(payloadSchema).max(maxPayloads) });
type JsonPayload = z.infer<typeof payloadSchema>;

/**
 * Temporal's remote codec protocol: `POST /codec/decode` and `/codec/encode` take and return
 * `{payloads}` as protobuf JSON. For operators: payloads belong to all organizations.
 */
export function registerCodec(app: App, { codec, namespace, uiOrigin }: CodecServer): void {
  for (const name of ['decode', 'encode'] as const) {
    app.post(
      `${base}/${name}`,
      {
        bodyLimit,
        // It changes nothing, and its answers must not be stored.
        config: { scope: 'admin', audit: 'none', idempotency: 'none', ...(uiOrigin !== null && { origin: uiOrigin }) },
        schema: {
          tags: ['Service'],
          operationId: `${name}Payloads`,
          summary: `${name === 'decode' ? 'Decrypt' : 'Encrypt'} payloads of Temporal (operators)`,
          description: "Temporal's remote codec protocol. Absent without RATCHET_CODEC_KEY.",
          headers: z.looseObject({
            'x-namespace': z.string().optional().describe('Absent or empty: the namespace in use.'),
          }),
          body: payloadsSchema,
          response: { 200: payloadsSchema, ...bodyProblems() },
        },
      },
      async ({ caller, headers, body }) => {
        if (caller.orgId !== operatorOrg) {
          const detail = `Only an admin key of the organization "${operatorOrg}" reads payloads of Temporal.`;
          throw new ApiError(403, 'not_operator', detail);
        }
        // The `temporal` program sends an empty header for the default.
        const asked = headers['x-namespace'] || namespace;
        if (asked !== namespace)
          throw new ApiError(422, 'unknown_namespace', `The codec is that of the namespace "${namespace}".`);
        const convert = async (payload: JsonPayload, index: number) => {
          try {
            const [converted] = await codec[name]([fromJson(payload)]);
            return toJson(converted!);
          } catch {
            const message = 'was not encrypted under this RATCHET_CODEC_KEY';
            throw refuse.invalid([{ pointer: `/payloads/${index}`, message }]);
          }
        };
        return { payloads: await Promise.all(body.payloads.map(convert)) };
      },
    );
  }
}

/** Lets pages of the Temporal UI call the codec. Their preflight requests carry no key. */
export function admitTemporalUi(app: App, uiOrigin: string): void {
  app.addHook('onRequest', ({ headers, method, url }, reply, done) => {
    if (headers.origin !== uiOrigin || !url.startsWith(`${base}/`)) return done();
    void reply.headers({ 'access-control-allow-origin': uiOrigin, vary: 'origin' });
    if (method !== 'OPTIONS') return done();
    void reply
      .code(204)
      .headers({
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers': 'authorization, content-type, x-api-key, x-namespace',
        'access-control-max-age': '600',
      })
      .send();
  });
}

function fromJson({ metadata = {}, data = '' }: JsonPayload): Payload {
  const entries = Object.entries(metadata).map(([key, text]) => [key, Buffer.from(text, 'base64')]);
  return { metadata: Object.fromEntries(entries) as Record<string, Buffer>, data: Buffer.from(data, 'base64') };
}

function toJson({ metadata, data }: Payload): JsonPayload {
  const texts = Object.entries(metadata ?? {}).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
  return {
    metadata: Object.fromEntries(texts) as Record<string, string>,
    data: Buffer.from(data ?? []).toString('base64'),
  };
}
