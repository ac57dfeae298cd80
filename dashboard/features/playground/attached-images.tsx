import { ImagePlus, X } from 'lucide-react';
import { type ReactElement, useRef } from 'react';
import { Button } from '../../ui/button.tsx';
import field from '../../ui/field.module.css';
import css from './attached-images.module.css';
import { imageDataUrl, MAX_IMAGES, withKeys } from './image-file.ts';
import { conversation } from './store.ts';

/** Adds images to the draft. Returns an error message, or null on success. */
export async function attach(files: Iterable<File>): Promise<string | null> {
  for (const file of files) {
    if (conversation.get().images.length >= MAX_IMAGES)
      return `A message can have at most ${MAX_IMAGES} images.`;
    try {
      conversation.addImage(await imageDataUrl(file));
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
  return null;
}

/** The button that adds images, with the error of the last attempt (also from a paste). */
export function AttachButton(props: {
  fault: string | null;
  onFiles: (files: readonly File[]) => void;
}): ReactElement {
  const { fault } = props;
  const input = useRef<HTMLInputElement>(null);
  return (
    <span className={css.attach}>
      <input
        ref={input}
        type="file"
        accept="image/*"
        multiple
        hidden
        aria-label="Image file"
        onChange={(event) => {
          const files = [...(event.target.files ?? [])];
          event.target.value = '';
          props.onFiles(files);
        }}
      />
      <Button variant="quiet" square aria-label="Add image" onClick={() => input.current?.click()}>
        <ImagePlus size={16} aria-hidden="true" />
      </Button>
      {fault === null ? null : (
        <span className={field.error} role="alert">
          {fault}
        </span>
      )}
    </span>
  );
}

/** The images of the draft, each with a remove button. */
export function DraftImages(props: { images: readonly string[] }): ReactElement | null {
  if (props.images.length === 0) return null;
  return (
    <ul className={css.row} aria-label="Images of the message">
      {withKeys(props.images).map(({ key, address }, at) => (
        <li key={key} className={css.draft}>
          <img src={address} alt={`${at + 1} of ${props.images.length}`} />
          <Button square aria-label={`Remove image ${at + 1}`} onClick={() => conversation.removeImage(at)}>
            <X size={14} aria-hidden="true" />
          </Button>
        </li>
      ))}
    </ul>
  );
}

/** The images of a sent message. */
export function SentImages(props: { images: readonly string[]; removed: number }): ReactElement | null {
  const { images, removed } = props;
  if (removed > 0)
    return (
      <p
        className={css.removed}
      >{`${removed} ${removed === 1 ? 'image' : 'images'}, removed by the reload`}</p>
    );
  if (images.length === 0) return null;
  return (
    <div className={css.row}>
      {withKeys(images).map(({ key, address }, at) => (
        <img key={key} src={address} alt={`Sent, ${at + 1} of ${images.length}`} />
      ))}
    </div>
  );
}
