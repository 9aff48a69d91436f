import { Client, type ClientOptions } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { installationHeader } from '../../../workflows/messages.js';

/** What the jobs and workers of a database share in Temporal, and no other installation has. */
export interface Installation {
  id: string;
  taskQueue: string;
}

/** A client whose workflows name their installation. */
export class InstallationClient extends Client {
  readonly installation: Installation;

  constructor(options: ClientOptions, installation: Installation) {
    const mark = { [installationHeader]: defaultPayloadConverter.toPayload(installation.id) };
    super({
      ...options,
      interceptors: {
        workflow: [{ startWithDetails: (input, next) => next({ ...input, headers: { ...input.headers, ...mark } }) }],
        schedule: [{ create: (input, next) => next({ ...input, headers: { ...input.headers, ...mark } }) }],
      },
    });
    this.installation = installation;
  }
}
