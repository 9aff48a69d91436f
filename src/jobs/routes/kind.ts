/** What the API knows of a kind of job: its routes follow from a record in the kind's folder. */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { jobKinds, type JobKind } from '../../core/jobs/kinds.js';
import type { StoredSpec } from '../../core/jobs/spec.js';
import type { Message } from '../../core/prompts/message.js';
import type { JobHead, JobRow, ListedJob } from '../store/jobs.js';
import type { Tx } from '../../platform/db/db.js';
import type { App, HttpDeps } from '../../platform/http/deps.js';
import type { Form } from '../../platform/http/server/forms.js';
import { findJob } from './control.js';
import type { Creation } from './create.js';
import type { Estimate } from './cost-estimate.js';
import type { LabelRequest } from './labels.js';

/** How the routes of a kind are named in the document. */
interface Names {
  kind: Exclude<JobKind, 'deployment'>;
  /** The name of a job's id in paths. */
  param: 'session_id' | 'job_id';
  /** With an article, for summaries. */
  noun: string;
  /** In operation ids. */
  name: string;
  tags: string[];
}

export interface HttpKind<Head = JobHead> extends Names {
  create: CreateRoute;
  list: {
    summary: string;
    item: z.ZodType;
    view(job: ListedJob<Head>, costUsd: number | null, deps: HttpDeps): object;
  };
  state: { summary: string; schema: z.ZodType; read(tx: Tx, job: JobRow<Head>, deps: HttpDeps): Promise<object> };
  /** Below the path of a job. */
  eventPaths: string[];
  /** PATCH accepts the id of any kind of job. */
  patchesAnyKind: boolean;
  /** Registers the routes that no other kind has. */
  registerOwn(app: App, deps: HttpDeps, route: JobRoute<Head>): void;
}

/** How jobs of a kind are created, anew or from the request of another. */
export interface CreateRoute {
  body: z.ZodType;
  /** The form in which a body is sent; absent: there is one. */
  formOf?(sent: unknown): Form;
  created: z.ZodType;
  bodyLimit?: number;
  /** Where a container's key stands in a request; absent: the kind has no container. */
  keyPath?: string[];
  draft(deps: HttpDeps, request: FastifyRequest, body: CreateBody): Promise<Draft>;
  /** The request with a candidate as first prompt or graph; absent: the kind has none. */
  branch?(tx: Tx, job: JobRow, candidateId: string, request: Record<string, unknown>): Promise<Again>;
  /** The prompt that a job begins with or runs; null: it is not the service's. */
  promptOf(spec: StoredSpec): Message[] | null;
}

/** A request that can be sent again. */
export interface Again {
  request: Record<string, unknown>;
  /** The candidate's messages; null: there is no candidate, or it is a graph. */
  prompt: Message[] | null;
  warnings: string[];
}

/** The fields that every create has beside those of its kind. */
export type CreateBody = LabelRequest & { webhook_url?: string | null | undefined };

type OfEveryKind = 'kind' | 'labels' | 'webhookUrl' | 'algorithm' | 'correlationId' | 'location' | 'answer';

/** A validated create request, as far as it differs between kinds. */
export interface Draft extends Omit<Creation, OfEveryKind> {
  correlationId?: string | null;
  estimate: Estimate;
  /** The fields of the answer that other kinds do not have. */
  answer?(jobId: string): Record<string, unknown>;
}

/** The routes of a kind, at its address. */
export interface JobRoute<Head = JobHead> extends Names {
  /** The path of its collection, and of a job. */
  base: string;
  path: string;
  params: z.ZodObject<Record<never, z.ZodString>>;
  /** The job that a request names. Throws 404. */
  find(request: FastifyRequest): Promise<JobRow<Head>>;
}

export function routeOf<Head = JobHead>(deps: HttpDeps, { kind, param, noun, name, tags }: Names): JobRoute<Head> {
  const base = jobKinds[kind].path;
  return {
    kind,
    param,
    noun,
    name,
    tags,
    base,
    path: `${base}/:${param}`,
    params: z.object({ [param]: z.string() }),
    find: (request) => findJob(deps, request, jobIdOf(request, param), kind),
  };
}

export function jobIdOf({ params }: FastifyRequest, param: Names['param']): string {
  return (params as Record<Names['param'], string>)[param];
}
