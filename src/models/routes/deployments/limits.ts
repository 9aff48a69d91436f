/** The limits of a deployment's callers, which all processes share. */
import type { FastifyReply } from 'fastify';
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { holdSlots } from '../../../access/store/call-slots.js';
import type { Portion } from '../../../access/store/limits.js';
import { takeRequests } from '../../../access/store/request-windows.js';
import { readUses, type Uses } from '../../../kinds/deployment/store/uses.js';
import type { Db } from '../../../platform/db/db.js';
import { createGroupCommit, type GroupCommit } from '../../../platform/db/group-commit.js';
import { SharedUses, type SharedLimit, type Taken } from '../../../platform/http/server/shared-limits.js';
import { ExpiringMap } from '../../../util/expiring-map.js';
import { callsRefused, requestsRefused, requirePrices, showLeft, usedUpRefused } from './limit-refusals.js';
import { isCounted, rulesOf, usedUpOf, type LimitedRequest, type Rule } from './limit-rules.js';

/** How long a process remembers that tokens or dollars are used up, and of how many subjects. */
const usedUpMs = 1_000;
const mostUsedUp = 10_000;

/** What a request has taken, and what was counted before it. */
interface Found {
  requests: Taken;
  calls: Taken;
  uses: (readonly [Rule, Uses])[];
}

/** How long a deployment is foreseen, and how many are. */
const foreseenMs = 60_000;
const mostForeseen = 1_000;

/** What was counted, as of `since` of `performance.now()`. */
interface Read {
  since: number;
  uses: Uses[];
}

/** A request whose deployment is not resolved yet. */
export type ExpectedRequest = Pick<LimitedRequest, 'orgId' | 'keyId' | 'tag' | 'ref'>;

/** Admits requests to deployments: in one round trip at most, in none without limits. */
export class DeploymentLimits {
  private readonly together: GroupCommit;
  private readonly requests: SharedUses;
  private readonly calls: SharedUses;
  private readonly usedUp = new ExpiringMap<string, Uses>(mostUsedUp, usedUpMs);
  /** By reference, with their limits of the last request. */
  private readonly foreseen = new ExpiringMap<string, LimitedRequest['deployment']>(mostForeseen, foreseenMs);

  constructor({ db, log }: { db: Pick<Db, 'orgBatch'>; log: Pick<Logger, 'warn'> }) {
    const together = createGroupCommit(db);
    const holder = randomUUID();
    this.together = together;
    // The numbers order locks: each transaction takes them in the same order.
    const takeCalls: SharedLimit['take'] = async (portion) => {
      const rows = await together.batch(portion.orgId, `1 ${portion.subject}`, holdSlots(portion, holder));
      return rows.at(-1)![0] as Portion;
    };
    this.calls = new SharedUses({ name: 'callsInFlight', isHeld: true, take: takeCalls }, log);
    const takeMinute: SharedLimit['take'] = (portion) =>
      takeRequests(together.tx(portion.orgId, `2 ${portion.subject}`), portion);
    this.requests = new SharedUses({ name: 'requestsPerMinute', isHeld: false, take: takeMinute }, log);
  }

  /**
   * Reads what was counted, while the deployment is resolved: it most likely has the limits that it
   * had. null: none are foreseen.
   */
  foresee(request: ExpectedRequest): Promise<Read | null> {
    const deployment = this.foreseen.get(`${request.orgId} ${request.ref}`);
    const rules = deployment ? rulesOf({ ...request, deployment }) : [];
    const counted = rules.filter(isCounted).map(({ subject }) => subject);
    if (counted.length === 0 || this.knownUsedUp(request.orgId, rules)) return nothingRead;
    return this.read(request.orgId, counted).catch(() => null);
  }

  /**
   * Refuses a request beyond a limit, and shows what is left in the answer. `early`: what `foresee`
   * has read. Returns the subjects for which its tokens and dollars count.
   */
  async admit(request: LimitedRequest, reply: FastifyReply, early = nothingRead): Promise<string[]> {
    const { orgId, ref, deployment } = request;
    const rules = rulesOf(request);
    if (rules.length === 0) {
      this.foreseen.delete(`${orgId} ${ref}`);
      return [];
    }
    requirePrices(rules, request);
    this.foreseen.set(`${orgId} ${ref}`, deployment);
    const found = this.knownUsedUp(orgId, rules) ?? (await this.take(orgId, rules, early));
    showLeft(reply, found);
    const { requests, calls, uses } = found;
    const usedUp = uses.map(([rule, used]) => usedUpOf(rule, used)).find((each) => each !== null);
    const refusal =
      (usedUp && usedUpRefused(request, usedUp)) ??
      (requests.exceeded && requestsRefused(request, requests.exceeded)) ??
      (calls.exceeded && callsRefused(request, calls.exceeded));
    if (refusal) {
      requests.release();
      calls.release();
      throw refusal;
    }
    if (reply.raw.destroyed) calls.release();
    else if (calls.states.length > 0) reply.raw.once('close', calls.release);
    return rules.filter(isCounted).map(({ subject }) => subject);
  }

  async close(): Promise<void> {
    await Promise.all([this.requests.close(), this.calls.close()]);
  }

  /** What is remembered of a rule that is used up: floods of refused requests cost little. */
  private knownUsedUp(orgId: string, rules: readonly Rule[]): Found | null {
    for (const rule of rules) {
      const used = this.usedUp.get(`${orgId} ${rule.subject}`);
      if (used && usedUpOf(rule, used)) return { requests: nothing, calls: nothing, uses: [[rule, used]] };
    }
    return null;
  }

  /** Takes one of each limit, and reads what was counted, together. */
  private async take(orgId: string, rules: readonly Rule[], early: Promise<Read | null>): Promise<Found> {
    const asked = { orgId, limits: rules };
    const [requests, calls, uses] = await Promise.allSettled([
      this.requests.take(asked),
      this.calls.take(asked),
      this.usesOf(orgId, rules.filter(isCounted), early),
    ]);
    if (requests.status === 'fulfilled' && calls.status === 'fulfilled' && uses.status === 'fulfilled')
      return { requests: requests.value, calls: calls.value, uses: uses.value };
    for (const taken of [requests, calls]) if (taken.status === 'fulfilled') taken.value.release();
    throw ([requests, calls, uses].find(({ status }) => status === 'rejected') as PromiseRejectedResult).reason;
  }

  private async usesOf(orgId: string, rules: readonly Rule[], early: Promise<Read | null>): Promise<Found['uses']> {
    if (rules.length === 0) return [];
    const subjects = rules.map(({ subject }) => subject);
    const foreseen = await early;
    const isWhole = subjects.every((subject) => foreseen?.uses.some((used) => used.subject === subject));
    const read = isWhole ? foreseen! : await this.read(orgId, subjects);
    return rules.map((rule) => {
      const used = read.uses.find(({ subject }) => subject === rule.subject)!;
      // Not beyond the end of the minute.
      const leftMs = Math.min(usedUpMs, used.minuteSecondsLeft * 1_000);
      if (usedUpOf(rule, used)) this.usedUp.set(`${orgId} ${rule.subject}`, used, read.since - usedUpMs + leftMs);
      return [rule, used] as const;
    });
  }

  private async read(orgId: string, subjects: readonly string[]): Promise<Read> {
    const since = performance.now();
    return { since, uses: await readUses(this.together.tx(orgId, '3'), orgId, subjects) };
  }
}

/** Without a foreseen request. */
const nothingRead: Promise<Read | null> = Promise.resolve(null);
const nothing: Taken = { states: [], exceeded: null, release: () => undefined };
