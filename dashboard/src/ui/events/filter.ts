import type { Event } from '../../../../src/client/index.js';

export interface EventFilter {
  /** A type, or `-rollouts`: everything but single rollouts; empty: all. */
  type: string;
  text: string;
}

const ofRollouts = new Set(['rollout_completed', 'eval.policy.seed.completed']);

/** How often each type occurs. */
export class EventTypes {
  readonly counts = new Map<string, number>();

  add({ type }: Event): void {
    this.counts.set(type, (this.counts.get(type) ?? 0) + 1);
  }
}

/** The events that pass a filter. */
export class FilteredEvents {
  readonly shown: Event[] = [];
  private readonly type: string;
  private readonly text: string;

  constructor({ type, text }: EventFilter) {
    this.type = type;
    this.text = text.toLowerCase();
  }

  add(event: Event): void {
    if (this.passes(event)) this.shown.push(event);
  }

  private passes({ type, message }: Event): boolean {
    if (this.type === '-rollouts' ? ofRollouts.has(type) : this.type !== '' && this.type !== type) return false;
    return this.text === '' || message.toLowerCase().includes(this.text);
  }
}
