import type { Payload, PayloadCodec } from '@temporalio/common';
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const encoding = Buffer.from('binary/encrypted');
const cipher = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/**
 * Encrypts all payloads of Temporal's histories with AES-256-GCM under a 32-byte key. `decode`
 * throws for a payload of another key.
 */
export function payloadCodec(key: Buffer): PayloadCodec {
  return {
    encode: (payloads) =>
      Promise.resolve(
        payloads.map((payload) => {
          const iv = randomBytes(ivBytes);
          const box = createCipheriv(cipher, key, iv);
          const text = Buffer.concat([box.update(pack(payload)), box.final()]);
          return { metadata: { encoding }, data: Buffer.concat([iv, box.getAuthTag(), text]) };
        }),
      ),
    decode: (payloads) =>
      Promise.resolve(
        payloads.map((payload): Payload => {
          if (!payload.data || !encoding.equals(payload.metadata?.['encoding'] ?? Buffer.alloc(0))) return payload;
          return unpack(decrypt(payload.data, key));
        }),
      ),
  };
}

/** Leaves what it cannot decode: its reader names the encoding. An error fails a workflow task. */
export function lenientCodec({ encode, decode }: PayloadCodec): PayloadCodec {
  const decodeOne = async (payload: Payload): Promise<Payload> => {
    try {
      const [decoded] = await decode([payload]);
      return decoded ?? payload;
    } catch {
      return payload;
    }
  };
  return { encode, decode: (payloads) => Promise.all(payloads.map(decodeOne)) };
}

function decrypt(data: Uint8Array, key: Buffer): Buffer {
  const box = createDecipheriv(cipher, key, data.subarray(0, ivBytes));
  box.setAuthTag(data.subarray(ivBytes, ivBytes + tagBytes));
  return Buffer.concat([box.update(data.subarray(ivBytes + tagBytes)), box.final()]);
}

/** A payload as bytes: length of the metadata's JSON, the JSON, the data. */
function pack({ metadata, data }: Payload): Buffer {
  const texts = Object.entries(metadata ?? {}).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
  const head = Buffer.from(JSON.stringify(Object.fromEntries(texts)));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(head.length);
  // Protobuf may give an empty array for no bytes.
  return Buffer.concat([length, head, Buffer.from(data ?? [])]);
}

function unpack(bytes: Buffer): Payload {
  const start = 4 + bytes.readUInt32BE(0);
  const head = JSON.parse(bytes.subarray(4, start).toString()) as Record<string, string>;
  const metadata = Object.fromEntries(Object.entries(head).map(([key, text]) => [key, Buffer.from(text, 'base64')]));
  return { metadata, data: bytes.subarray(start) };
}
