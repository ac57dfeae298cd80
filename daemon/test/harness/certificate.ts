import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A self-signed certificate for localhost. */
export interface Certificate {
  readonly key: Buffer;
  readonly cert: Buffer;
  /** Where the certificate lies, for a program that shall trust it. */
  readonly certFile: string;
}

/** Makes one in `folder`, here and now; null when this machine has no openssl to make it with. */
export function makeCertificate(folder: string): Certificate | null {
  const [keyFile, certFile] = [join(folder, 'key'), join(folder, 'cert')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2'];
  try {
    execFileSync('openssl', [...made, '-keyout', keyFile, '-out', certFile, ...subject], { stdio: 'ignore' });
  } catch {
    return null;
  }
  return { key: readFileSync(keyFile), cert: readFileSync(certFile), certFile };
}
