package records

import (
	"context"
	"crypto/sha256"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/photo"
)

var attachmentTypes = []string{photo.JPEG, photo.PNG, photo.PDF}

// AttachInput names a case and a file.
type AttachInput struct {
	httpapi.IDInput
	Name string `query:"name" maxLength:"200" doc:"Of the file."`
}

// AttachmentInput names an attachment of a case.
type AttachmentInput struct {
	httpapi.IDInput
	AttachmentID string `path:"attachment_id" doc:"Integer id."`
}

// AttachmentData is the data of the answer with one attachment.
type AttachmentData struct {
	Attachment Attachment `json:"attachment"`
}

func (a *api) attach(c *httpapi.Call) error {
	ctx := c.R.Context()
	body, _, _ := c.Body()
	id := (&httpapi.IDInput{ID: c.R.PathValue("id")}).Number()
	if _, err := a.Store.Records().Case(ctx, c.Workspace(), id); err != nil {
		return err
	}
	file, err := decoded(ctx, a, func() (photo.File, error) { return photo.Keep(body) })
	if err != nil {
		return err
	}
	by, err := a.attachedBy(ctx, c.Principal)
	if err != nil {
		return err
	}
	x := rimewatch.Attachment{
		WorkspaceID: c.Workspace(), CaseID: id, Name: fileName(c.Query.Get("name"), file.Type), Type: file.Type, Width: file.Width, Height: file.Height,
		Original: sha256.Sum256(body), At: c.Now, By: by,
	}
	if err := a.Store.Records().Attach(ctx, &x, file.Data); err != nil {
		return err
	}
	return c.Data(http.StatusCreated, AttachmentData{attachmentJSON(&x)})
}

// decoded decodes one image at a time.
func decoded[T any](ctx context.Context, a *api, decode func() (T, error)) (out T, err error) {
	select {
	case a.decoding <- struct{}{}:
		defer func() { <-a.decoding }()
	case <-ctx.Done():
		return out, rimewatch.Wrap(rimewatch.CodeUnavailable, ctx.Err(), "The request was cancelled.")
	}
	return decode()
}

// attachedBy is who attaches something: the person who is signed in, or a program.
func (a *api) attachedBy(ctx context.Context, p account.Principal) (rimewatch.Doer, error) {
	if !p.Session {
		return rimewatch.Doer{Kind: rimewatch.DoerToken, Name: httpapi.TokenActor(&p), Token: p.TokenName}, nil
	}
	self, _, err := a.self(ctx)
	return self, err
}

// fileName is the name of a file without folders, with the ending of its type.
func fileName(name, kind string) string {
	name = strings.TrimSpace(path.Base(strings.ReplaceAll(name, `\`, "/")))
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return -1
		}
		return r
	}, name)
	if name == "" || name == "." || name == "/" {
		name = "file"
	}
	endings := map[string][]string{photo.JPEG: {".jpg", ".jpeg"}, photo.PNG: {".png"}, photo.PDF: {".pdf"}}[kind]
	if !slices.Contains(endings, strings.ToLower(path.Ext(name))) {
		name = strings.TrimSuffix(name, path.Ext(name)) + endings[0]
	}
	return name
}

func (a *api) attachment(c *httpapi.Call) error {
	id := (&httpapi.IDInput{ID: c.R.PathValue("id")}).Number()
	file := (&httpapi.IDInput{ID: c.R.PathValue("attachment_id")}).Number()
	x, data, err := a.Store.Records().Attachment(c.R.Context(), c.Workspace(), id, file)
	if err != nil {
		return err
	}
	return a.sendAttachment(c, &x, data)
}

// sendAttachment answers with the bytes of one. A document is saved, an image may be shown.
func (a *api) sendAttachment(c *httpapi.Call, x *rimewatch.Attachment, data []byte) error {
	how := "inline"
	if x.Width == 0 {
		how = "attachment"
	}
	c.Header("Content-Disposition", how+`; filename="attachment-`+strconv.FormatInt(x.ID, 10)+path.Ext(x.Name)+`"`)
	return a.sendKept(c, x.Type, "private, max-age=86400, immutable", data)
}

// sendKept answers with the bytes of an attached file. No content of it runs: it
// is shown in a sandbox that may do nothing.
func (a *api) sendKept(c *httpapi.Call, kind, cached string, data []byte) error {
	c.Header("Content-Type", kind)
	c.Header("Content-Length", strconv.Itoa(len(data)))
	c.Header("Content-Security-Policy", "default-src 'none'; sandbox")
	c.Header("X-Content-Type-Options", "nosniff")
	c.Header("Cache-Control", cached)
	for piece := range slices.Chunk(data, httpapi.StreamChunk) {
		if err := c.Stream(piece); err != nil {
			return a.BrokenStream(c, err)
		}
	}
	return nil
}
