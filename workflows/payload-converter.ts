import {
  defaultPayloadConverter,
  type ConverterHint,
  type Payload,
  type PayloadConverter,
  type SerializationContext,
} from '@temporalio/common';

/** A payload from outside that no converter can read. */
export class UnreadablePayload {
  readonly encoding: string;

  constructor({ metadata }: Payload) {
    const encoding = metadata?.['encoding'];
    this.encoding = encoding ? String.fromCharCode(...encoding.slice(0, 100)) : 'none';
  }

  /** Whether a worker with another key may read it. */
  get isEncrypted(): boolean {
    return this.encoding === 'binary/encrypted';
  }
}

/**
 * The default converter, but an unreadable payload becomes a value: an exception would fail the
 * workflow task for ever, before any handler runs.
 */
export const payloadConverter: PayloadConverter = {
  toPayload: (value, context, hint) => defaultPayloadConverter.toPayload(value, context, hint),
  fromPayload<T>(payload: Payload, context?: SerializationContext, hint?: ConverterHint<T>): T {
    try {
      return defaultPayloadConverter.fromPayload(payload, context, hint);
    } catch {
      return new UnreadablePayload(payload) as T;
    }
  },
};
