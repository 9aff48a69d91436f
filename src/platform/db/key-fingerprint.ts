import { createHmac } from 'node:crypto';

/** A public fingerprint of the secret key: 16 hex digits that reveal nothing about it. */
export function keyFingerprint(secretKey: Buffer): string {
  return createHmac('sha256', secretKey).update('ratchet secret key fingerprint v1').digest('hex').slice(0, 16);
}
