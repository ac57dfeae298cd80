import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A self-signed certificate for localhost. */
export interface Certificate {
  readonly key: Buffer;
  readonly cert: Buffer;
  /** Path of the certificate, for a program that must trust it. */
  readonly certFile: string;
}

/** Creates a certificate in `folder`. Returns null when this machine has no openssl. */
export function makeCertificate(folder: string): Certificate | null {
  const [keyFile, certFile] = [join(folder, 'key'), join(folder, 'cert')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const options = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2'];
  try {
    execFileSync('openssl', [...options, '-keyout', keyFile, '-out', certFile, ...subject], {
      stdio: 'ignore',
    });
  } catch {
    return null;
  }
  return { key: readFileSync(keyFile), cert: readFileSync(certFile), certFile };
}
