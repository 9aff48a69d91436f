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
const unitBytes = 8;
const randomLength = 4;
const unitAt = deploymentBytes + timeBytes;
const signedBytes = unitAt + unitBytes + randomLength;
const signatureBytes = 8;

/** What an id says of its answer. */
export interface Answered {
  deploymentId: string;
  at: Date;
  /** Who asked, as `AnswerIds.unitOf` says. */
  unit: string;
}

/** Gives answers their ids, and reads them. */
export class AnswerIds {
  private readonly key: KeyObject;

  constructor(secretKey: Buffer) {
    const key = createHmac('sha256', secretKey).update('ratchet answer ids v1').digest();
    this.key = createSecretKey(key);
  }

  /**
   * Who asks, in 16 hexadecimal digits: the same for the same text, such as a user's name, which it
   * does not reveal. null: no one known, another one each time.
   */
  unitOf(text: string | null): string {
    if (text === null) return randomBytes(unitBytes).toString('hex');
    return createHmac('sha256', this.key)
      .update('unit ')
      .update(text)
      .digest('hex')
      .slice(0, 2 * unitBytes);
  }

  issue(deploymentId: string, unit: string): string {
    const signed = Buffer.alloc(signedBytes);
    signed.write(deploymentId.slice(deploymentPrefix.length), 'hex');
    signed.writeUIntBE(Date.now(), deploymentBytes, timeBytes);
    signed.write(unit, unitAt, 'hex');
    randomBytes(randomLength).copy(signed, unitAt + unitBytes);
    return prefix + Buffer.concat([signed, this.signatureOf(signed)]).toString('base64url');
  }

  /** null: no answer had this id. */
  read(id: string): Answered | null {
    if (!id.startsWith(prefix)) return null;
    const bytes = Buffer.from(id.slice(prefix.length), 'base64url');
    if (bytes.length !== signedBytes + signatureBytes || bytes.toString('base64url') !== id.slice(prefix.length))
      return null;
    const signed = bytes.subarray(0, signedBytes);
    if (!timingSafeEqual(this.signatureOf(signed), bytes.subarray(signedBytes))) return null;
    const at = new Date(signed.readUIntBE(deploymentBytes, timeBytes));
    const deploymentId = deploymentPrefix + signed.toString('hex', 0, deploymentBytes);
    return { deploymentId, at, unit: signed.toString('hex', unitAt, unitAt + unitBytes) };
  }

  private signatureOf(signed: Buffer): Buffer {
    return createHmac('sha256', this.key).update(signed).digest().subarray(0, signatureBytes);
  }
}
