import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { matchesEtag } from '../../../../util/etag.js';
import type { GraphArchive } from './archive.js';

/** Sends an archive, or 304 if `If-None-Match` matches. An error aborts the download. */
export function sendArchive(request: FastifyRequest, reply: FastifyReply, archive: GraphArchive): FastifyReply {
  const { etag, fileName } = archive;
  void reply.header('etag', etag);
  if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send();
  void reply.type('application/zip').header('content-disposition', `attachment; filename="${fileName}"`);
  if (request.method === 'HEAD') return reply.send(Readable.from([]));
  const zip = archive.open();
  zip.once('error', (error) => request.log.error({ err: error, file: fileName }, 'streaming a graph archive failed'));
  return reply.send(zip);
}
