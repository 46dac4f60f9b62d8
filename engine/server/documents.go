package server

import (
	"context"
	"fmt"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/syntax"
)

// Changer changes the collections of a server. A change is durable, and in all further answers, when
// a method returns without an error. The error of an unknown name has code NotFound. It is safe for
// concurrent use.
type Changer interface {
	// Add adds documents in JSON lines.
	Add(ctx context.Context, index string, lines []byte) (*api.DocumentsResponse, error)
	// Delete deletes documents by their names.
	Delete(ctx context.Context, index string, names []string) (*api.DocumentsResponse, error)
	// Merge joins all segments.
	Merge(ctx context.Context, index string) (*api.DocumentsResponse, error)
	// Open serves the collection in a folder under a new name.
	Open(ctx context.Context, index, dir string) error
	// Shut takes a collection out of service, if it lies in a folder.
	Shut(ctx context.Context, index, dir string) error
}

// changer returns the changer of a collection.
func (a adminService) changer(index string) (Changer, error) {
	if a.s.opt.Changer == nil || !a.s.isCollection(index) {
		return nil, &engine.Error{Code: engine.NotFound, Op: "change collection", Err: fmt.Errorf("no collection is named %s: only a collection changes by documents", syntax.Quote(index))}
	}
	return a.s.opt.Changer, nil
}

// AddDocuments implements api.AdminServiceHandler.
func (a adminService) AddDocuments(ctx context.Context, r *api.AddDocumentsRequest) (*api.DocumentsResponse, error) {
	c, err := a.changer(r.GetIndex())
	if err != nil {
		return nil, err
	}
	return c.Add(ctx, r.GetIndex(), r.GetLines())
}

// DeleteDocuments implements api.AdminServiceHandler.
func (a adminService) DeleteDocuments(ctx context.Context, r *api.DeleteDocumentsRequest) (*api.DocumentsResponse, error) {
	c, err := a.changer(r.GetIndex())
	if err != nil {
		return nil, err
	}
	return c.Delete(ctx, r.GetIndex(), r.GetNames())
}

// MergeDocuments implements api.AdminServiceHandler.
func (a adminService) MergeDocuments(ctx context.Context, r *api.MergeDocumentsRequest) (*api.DocumentsResponse, error) {
	c, err := a.changer(r.GetIndex())
	if err != nil {
		return nil, err
	}
	return c.Merge(ctx, r.GetIndex())
}
