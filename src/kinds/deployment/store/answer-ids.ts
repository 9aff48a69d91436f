/**
 * Ids of a deployment's answers. An id holds the deployment that answered and is signed, so that
 * feedback finds its deployment without a row for each request.
 */
import { createHmac, createSecretKey, randomBytes, timingSafeEqual, type KeyObject } from 'node:crypto';
import { jobKinds } from '../../../core/jobs/kinds.js';

const prefix = 'chatcmpl-';
const deploymentPrefix = jobKinds.deployment.prefix;
const deploymentBytes = 16;
const timeBytes = 6;
const randomLength = 6;
const signedBytes = deploymentBytes + timeBytes + randomLength;
const signatureBytes = 8;

/** Gives answers their ids, and reads them. */
export class AnswerIds {
  private readonly key: KeyObject;

  constructor(secretKey: Buffer) {
    const key = createHmac('sha256', secretKey).update('ratchet answer ids v1').digest();
    this.key = createSecretKey(key);
  }

  issue(deploymentId: string): string {
    const signed = Buffer.alloc(signedBytes);
    signed.write(deploymentId.slice(deploymentPrefix.length), 'hex');
    signed.writeUIntBE(Date.now(), deploymentBytes, timeBytes);
    randomBytes(randomLength).copy(signed, deploymentBytes + timeBytes);
    return prefix + Buffer.concat([signed, this.signatureOf(signed)]).toString('base64url');
  }

  /** Which deployment gave the answer, and when; null: no answer had this id. */
  read(id: string): { deploymentId: string; at: Date } | null {
    if (!id.startsWith(prefix)) return null;
    const bytes = Buffer.from(id.slice(prefix.length), 'base64url');
    if (bytes.length !== signedBytes + signatureBytes || bytes.toString('base64url') !== id.slice(prefix.length))
      return null;
    const signed = bytes.subarray(0, signedBytes);
    if (!timingSafeEqual(this.signatureOf(signed), bytes.subarray(signedBytes))) return null;
    const at = new Date(signed.readUIntBE(deploymentBytes, timeBytes));
    return { deploymentId: deploymentPrefix + signed.toString('hex', 0, deploymentBytes), at };
  }

  private signatureOf(signed: Buffer): Buffer {
    return createHmac('sha256', this.key).update(signed).digest().subarray(0, signatureBytes);
  }
}
