import { requestHash } from '../../rollouts/store/request-hash.js';
import type { MarkedSpan } from './lever-marks.js';

/** What a request to a provider consists of. */
interface Parts {
  provider: string;
  body: Record<string, unknown>;
  /** What the hash covers; default: the body. */
  hashed?: Record<string, unknown>;
  model: string;
  stream: boolean;
  /** The fields of the body that are the caller's. */
  callers: ReadonlySet<string>;
  /** Removes the usage chunk from a stream whose caller did not ask for it. */
  hideUsageChunk: boolean;
  /** The spans that the caller marked as levers, unchanged. */
  spans: MarkedSpan[];
  /** The components inserted into these spans, in the prompt's order. */
  components: string[];
}

/** A request as it goes to the provider, and the changes to undo in the answer. */
export class UpstreamRequest {
  private readonly parts: Parts;
  private text: string | null;
  private digest: Buffer | null = null;

  constructor(parts: Parts, json: string | null = null) {
    this.parts = parts;
    this.text = json;
  }

  get body(): Record<string, unknown> {
    return this.parts.body;
  }
  get model(): string {
    return this.parts.model;
  }
  get stream(): boolean {
    return this.parts.stream;
  }
  get callers(): ReadonlySet<string> {
    return this.parts.callers;
  }
  get hideUsageChunk(): boolean {
    return this.parts.hideUsageChunk;
  }
  get spans(): MarkedSpan[] {
    return this.parts.spans;
  }
  get components(): string[] {
    return this.parts.components;
  }

  /** The body's JSON, written once: for the provider and for the record. */
  get json(): string {
    return (this.text ??= JSON.stringify(this.parts.body));
  }

  /** See `requestHash`. */
  get hash(): Buffer {
    return (this.digest ??= requestHash(this.parts.provider, this.parts.hashed ?? this.parts.body));
  }

  /** The same request with another body, whose JSON is `json`. */
  withBody(body: Record<string, unknown>, json: string): UpstreamRequest {
    return new UpstreamRequest({ ...this.parts, body }, json);
  }
}
