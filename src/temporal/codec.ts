import type { Payload, PayloadCodec } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const encoding = Buffer.from('binary/encrypted');
const cipher = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/** Encrypts every payload of Temporal's histories under a 32-byte key (AES-256-GCM). */
export function payloadCodec(key: Buffer): PayloadCodec {
  const PayloadMessage = temporal.api.common.v1.Payload;
  return {
    encode: (payloads) =>
      Promise.resolve(
        payloads.map((payload) => {
          const iv = randomBytes(ivBytes);
          const box = createCipheriv(cipher, key, iv);
          const text = Buffer.concat([box.update(PayloadMessage.encode(payload).finish()), box.final()]);
          return { metadata: { encoding }, data: Buffer.concat([iv, box.getAuthTag(), text]) };
        }),
      ),
    decode: (payloads) =>
      Promise.resolve(
        payloads.map((payload): Payload => {
          if (!payload.data || !encoding.equals(payload.metadata?.['encoding'] ?? Buffer.alloc(0))) return payload;
          const box = createDecipheriv(cipher, key, payload.data.subarray(0, ivBytes));
          box.setAuthTag(payload.data.subarray(ivBytes, ivBytes + tagBytes));
          const text = Buffer.concat([box.update(payload.data.subarray(ivBytes + tagBytes)), box.final()]);
          return PayloadMessage.decode(text);
        }),
      ),
  };
}
