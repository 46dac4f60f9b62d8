package server

import (
	"context"
	"errors"
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
	// Update changes members of documents: JSON lines as engine.Collection.UpdateLines takes them.
	Update(ctx context.Context, index string, lines []byte) (*api.DocumentsResponse, error)
	// DeleteWhere deletes the documents whose attributes make a predicate true.
	DeleteWhere(ctx context.Context, index, where string) (*api.DocumentsResponse, error)
	// Create makes a collection in a folder and serves it.
	Create(ctx context.Context, index, dir string, settings *engine.CollectionSettings) (*api.DocumentsResponse, error)
	// Drop takes a collection out of service and removes it. allow tells whether its folder may be removed.
	Drop(ctx context.Context, index string, allow func(dir string) error) error
	// Backup copies the newest state to a folder.
	Backup(ctx context.Context, index, to string) (*api.BackupCollectionResponse, error)
	// Merge joins all segments.
	Merge(ctx context.Context, index string) (*api.DocumentsResponse, error)
	// Snapshot pins the newest state, which the caller closes.
	Snapshot(index string) (*engine.CollectionSnapshot, error)
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
	switch where := r.GetWhere(); {
	case where == "":
		return c.Delete(ctx, r.GetIndex(), r.GetNames())
	case len(r.GetNames()) > 0:
		return nil, &engine.Error{Code: engine.InvalidOption, Op: "delete documents", Err: errors.New("names and where exclude each other")}
	default:
		return c.DeleteWhere(ctx, r.GetIndex(), where)
	}
}

// UpdateDocuments implements api.AdminServiceHandler.
func (a adminService) UpdateDocuments(ctx context.Context, r *api.UpdateDocumentsRequest) (*api.DocumentsResponse, error) {
	c, err := a.changer(r.GetIndex())
	if err != nil {
		return nil, err
	}
	return c.Update(ctx, r.GetIndex(), r.GetLines())
}

// MergeDocuments implements api.AdminServiceHandler.
func (a adminService) MergeDocuments(ctx context.Context, r *api.MergeDocumentsRequest) (*api.DocumentsResponse, error) {
	c, err := a.changer(r.GetIndex())
	if err != nil {
		return nil, err
	}
	return c.Merge(ctx, r.GetIndex())
}
